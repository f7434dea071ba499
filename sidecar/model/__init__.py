"""Models behind one interface: alone in knowing a vendor."""

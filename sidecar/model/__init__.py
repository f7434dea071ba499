"""Models behind one interface: alone in knowing a vendor. Knows no session and no store."""

"""Models behind one interface; no other folder knows a vendor."""

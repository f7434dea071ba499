"""The store's file, the sessions' leases, and the thread that writes."""

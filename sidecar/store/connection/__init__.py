"""The file, leases and the writer."""

"""The file, leases and the writer. Knows no table."""

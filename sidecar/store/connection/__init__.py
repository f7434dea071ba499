"""The file, leases and the writer's thread. Knows no table."""

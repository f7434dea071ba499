"""The Agent Client Protocol, version 1: its names, shapes and error codes, and nowhere else."""

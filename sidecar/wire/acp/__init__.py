"""The Agent Client Protocol, version 1."""

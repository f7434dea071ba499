"""The Agent Client Protocol, version 1: names, shapes and error codes."""

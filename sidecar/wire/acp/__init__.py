"""The Agent Client Protocol, version 1. Knows no LSP."""

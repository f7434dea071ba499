"""Reads other agents' recordings as our messages: one module per format."""

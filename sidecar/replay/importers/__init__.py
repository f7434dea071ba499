"""Recordings of other agents, read as our messages: one module per format."""

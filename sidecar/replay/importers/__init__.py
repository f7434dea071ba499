"""Recordings of other agents as our messages: one module per format."""

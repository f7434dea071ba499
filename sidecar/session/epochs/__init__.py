"""A prompt's head and its changes."""

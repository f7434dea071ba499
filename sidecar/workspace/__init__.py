"""Alone in touching the user's files."""

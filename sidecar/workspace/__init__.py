"""Alone in touching the user's files. Knows no session and no prompt."""

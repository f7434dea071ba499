"""A session's history, for people."""

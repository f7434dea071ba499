"""A session's history for people to read."""

"""A session for people to read: updates, turns, contents."""

"""Authorship of workspace changes, and permissions."""

"""Authorship of workspace changes, and permissions, independent of turns."""

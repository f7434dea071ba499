"""Authorship of workspace changes, and permissions. Knows no turn and no state."""

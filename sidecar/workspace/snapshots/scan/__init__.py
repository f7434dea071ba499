"""Possible changes by stat alone. Knows no event."""

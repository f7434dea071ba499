"""Possible changes by stat alone."""

"""Finds possible changes by stat alone."""

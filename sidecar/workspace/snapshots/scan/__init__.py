"""Possible changes by stat alone, without ignored paths."""

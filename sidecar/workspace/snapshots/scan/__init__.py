"""Find possible changes by stat alone, leaving out ignored paths."""

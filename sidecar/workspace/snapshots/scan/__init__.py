"""Find possible changes by stat alone, without ignored paths."""

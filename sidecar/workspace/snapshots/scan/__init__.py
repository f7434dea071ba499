"""Finds what may have changed, by stat alone, without what is ignored."""

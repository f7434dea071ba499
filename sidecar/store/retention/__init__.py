"""Retention: limits, due removals, sizes."""

"""Retention: limits, due removals, sizes. Knows no repair."""

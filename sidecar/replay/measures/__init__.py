"""Measures the part of a log that is in view when needed."""

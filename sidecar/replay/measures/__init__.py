"""Measures how much of a log is in view when needed."""

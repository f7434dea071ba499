"""Asks about a log, and judges a model's answers after rewrites."""

"""Rewrites of the context: planned, summarised, committed."""

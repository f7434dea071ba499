"""Rewrites of the context: planned, summarised, committed. Knows no session as a whole."""

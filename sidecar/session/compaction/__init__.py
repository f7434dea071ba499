"""Rewrites of a session's context: planned, summarised, committed."""

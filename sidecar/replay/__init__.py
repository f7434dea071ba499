"""Recorded sessions, played under policies."""

"""Plays recorded sessions under policies."""

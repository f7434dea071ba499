"""Restores and redos of conversation and files. Knows no session as a whole."""

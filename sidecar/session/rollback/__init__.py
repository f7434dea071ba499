"""Restores and redos of conversation and files."""

"""Stores exact states of files cheaply."""

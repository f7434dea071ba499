"""Stores exact states of a workspace's files cheaply."""

"""Exact states of a workspace's files, taken cheaply."""

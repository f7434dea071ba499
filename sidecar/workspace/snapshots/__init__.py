"""Exact states of a workspace's files, taken cheaply. Knows no author of a change."""

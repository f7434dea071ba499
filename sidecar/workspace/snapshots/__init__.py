"""Snapshots: exact states of all files of a workspace, taken cheaply."""

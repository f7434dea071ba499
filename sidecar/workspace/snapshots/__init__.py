"""Snapshots of a workspace: the exact state of every file at a moment, cheaply."""

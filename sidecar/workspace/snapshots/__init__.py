"""Snapshots of a workspace: what every file in it was at a moment, exactly and cheaply."""

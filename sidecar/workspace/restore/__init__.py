"""Planned restores, carried out completely or not at all."""

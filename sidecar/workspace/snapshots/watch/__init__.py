"""Notices changes by events or stats."""

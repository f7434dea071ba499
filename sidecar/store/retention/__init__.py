"""Decides what retention removes, and measures sizes."""

"""Verify and repair a store."""

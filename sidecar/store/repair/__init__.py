"""Verify and repair a store. Below the journal alone."""

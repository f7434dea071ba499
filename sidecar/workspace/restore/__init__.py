"""Carries out restores, completely or not at all."""

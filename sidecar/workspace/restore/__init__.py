"""Carries out planned restores, completely or not at all."""

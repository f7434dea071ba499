"""Folds the recent past, and raises alerts from it."""

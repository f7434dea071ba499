"""Answers without a key or a network, by rules."""

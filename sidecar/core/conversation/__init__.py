"""Turns, calls and streamed answers as values."""

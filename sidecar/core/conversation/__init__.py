"""Turns, calls and streamed answers as values. Knows no prompt, no file and no policy."""

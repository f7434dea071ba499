"""Decides whether a call may run: words, programs, files that run later. Runs nothing."""

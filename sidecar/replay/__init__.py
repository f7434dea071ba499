"""Recorded sessions, played under policies. Knows no live session and no model."""

"""Speaks Google's Gemini API; knows of sessions only requests and events."""

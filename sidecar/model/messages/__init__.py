"""Speaks Anthropic's Messages API; knows of sessions only requests and events."""

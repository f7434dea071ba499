"""Replays of recorded sessions: real cost, and cost under each policy."""

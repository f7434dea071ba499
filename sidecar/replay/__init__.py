"""Replays recorded sessions: what they cost, and what they would have cost under each policy."""

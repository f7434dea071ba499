"""Size, warmth and idleness of a session, and keep-alive pings."""

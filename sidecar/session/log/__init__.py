"""The session log, its records, and the channel to watchers."""

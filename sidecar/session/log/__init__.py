"""The session log, its records, and the channel to watchers. Knows no view and no turn."""

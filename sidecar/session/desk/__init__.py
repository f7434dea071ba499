"""All sessions of a daemon, subtasks, settings."""

"""All sessions of a daemon, their subtasks and settings."""

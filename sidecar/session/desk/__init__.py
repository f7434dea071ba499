"""All sessions of a daemon, subtasks, settings. Knows no client's protocol."""

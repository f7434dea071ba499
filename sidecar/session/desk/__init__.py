"""All sessions of a daemon: by id, as subtasks, as settings change. Above all other rooms."""

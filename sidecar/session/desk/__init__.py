"""A daemon's sessions, subtasks and settings; imports all other rooms."""

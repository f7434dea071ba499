"""A session's log, its records and its channel: read, written, told. Knows no view and no turn."""

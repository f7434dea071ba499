"""A store checked, cleared, exported."""

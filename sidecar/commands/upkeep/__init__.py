"""A store checked, cleared, exported. Knows no turn."""

"""A session from its opening to its end: new, resumed, forked, at work."""

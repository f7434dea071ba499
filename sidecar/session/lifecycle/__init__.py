"""Sessions from their opening to their end: new, resumed, forked, at work."""

"""Sessions from opening to end: new, resumed, forked, at work."""

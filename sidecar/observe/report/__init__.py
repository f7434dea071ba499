"""Shows a session as values, charts and a page."""

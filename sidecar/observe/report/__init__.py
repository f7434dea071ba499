"""A session as values, charts and a page."""

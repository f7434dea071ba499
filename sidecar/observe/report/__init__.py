"""A session as values, charts and a page. Knows no metric and no alert."""

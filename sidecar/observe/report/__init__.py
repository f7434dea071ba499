"""A session as values, charts and one page. Knows no metric and no alert."""

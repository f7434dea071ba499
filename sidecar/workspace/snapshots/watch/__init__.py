"""Changes noticed by events or stats. Knows no content."""

"""Questions about a log, and what a model still answers after rewrites. Knows no table."""

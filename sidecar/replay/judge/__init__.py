"""Questions about a log, and a model's answers after rewrites."""

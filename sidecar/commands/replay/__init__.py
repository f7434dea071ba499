"""`sidecar replay`: recordings, priced and judged."""

"""`sidecar replay`: recorded sessions, priced and judged."""

"""`sidecar replay`: recordings, priced and judged. Knows no stored session."""

"""What of a log a policy left in view when it was needed. Knows no policy and no cache."""

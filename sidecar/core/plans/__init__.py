"""Building blocks of plans: what stays, the worth of items, ways to shorten."""

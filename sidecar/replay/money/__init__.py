"""What recorded sessions cost, and what the same simulation makes of either way."""

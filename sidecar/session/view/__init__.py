"""What the model sees of a log, and what the provider caches. Knows no turn and no state."""

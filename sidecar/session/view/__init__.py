"""The model's view of a log, and the provider's cache."""

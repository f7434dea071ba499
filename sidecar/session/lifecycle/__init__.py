"""Sessions from opening to end."""

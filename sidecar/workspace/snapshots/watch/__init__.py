"""Changes noticed by events or stats."""

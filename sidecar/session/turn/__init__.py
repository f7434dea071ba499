"""A turn: steps, calls, permissions, until the model stops."""

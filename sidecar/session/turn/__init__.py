"""A turn: steps, calls, permissions, until the model stops. Knows no state of a session."""

"""A typed, asynchronous client for the Sidecar daemon."""

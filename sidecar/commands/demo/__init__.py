"""`sidecar demo`: a session with the offline model. Knows only the protocol."""

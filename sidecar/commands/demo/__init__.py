"""`sidecar demo`: a session with the offline model."""

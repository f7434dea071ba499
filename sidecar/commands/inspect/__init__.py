"""`sidecar inspect`, `report` and `audit`, which show a session."""

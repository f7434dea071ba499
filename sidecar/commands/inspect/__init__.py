"""`sidecar inspect`, `report`, `audit`: a session shown."""

"""`sidecar inspect`, `report`, `audit`: look at a session, changing nothing."""

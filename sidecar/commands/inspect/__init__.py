"""`sidecar inspect`, `report`, `audit`: looking at a session, changing nothing."""

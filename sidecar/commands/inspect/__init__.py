"""`sidecar inspect`, `report`, `audit`: a session shown. Changes nothing."""

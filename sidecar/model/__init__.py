"""Models: the only place that knows a vendor's SDK."""

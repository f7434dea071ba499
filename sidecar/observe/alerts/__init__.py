"""The recent past, and alerts about it. Knows no exporter."""

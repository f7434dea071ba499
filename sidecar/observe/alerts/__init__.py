"""The recent past, and its alerts. Knows no exporter."""

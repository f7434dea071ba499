"""What has happened lately, and what of it is wrong. Knows no exporter."""

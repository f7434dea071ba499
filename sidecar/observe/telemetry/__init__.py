"""OpenTelemetry, loaded only if enabled. Knows no alert's rules."""

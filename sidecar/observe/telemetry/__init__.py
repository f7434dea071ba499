"""OpenTelemetry, loaded only if enabled."""

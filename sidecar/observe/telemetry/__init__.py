"""OpenTelemetry metrics and traces, loaded only if enabled."""

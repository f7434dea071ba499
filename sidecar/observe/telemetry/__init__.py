"""Metrics and traces, for OpenTelemetry. Loaded only where it is on."""

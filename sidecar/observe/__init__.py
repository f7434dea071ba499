"""Metrics, alerts, traces, and a session's report."""

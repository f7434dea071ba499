"""Metrics, alerts, the inspector, the report."""

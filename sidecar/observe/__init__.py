"""Metrics, alerts, the inspector, the report. Reads and decides nothing; knows no session."""

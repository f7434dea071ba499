"""Metrics, alerts, the inspector and the report. Reads; decides nothing."""

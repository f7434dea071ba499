"""What happened, told: metrics, alerts, the inspector and the report. Reads; never decides."""

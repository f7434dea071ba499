"""The recent past, and its alerts."""

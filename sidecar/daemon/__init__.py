"""Joins the parts, reads the clock, mints ids, starts processes."""

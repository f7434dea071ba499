"""The composition root: joins the parts, reads the clock, mints ids, starts processes."""

"""Sessions at work: one inbox and one task each."""

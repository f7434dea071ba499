"""Sessions at work, each with one inbox and one task."""

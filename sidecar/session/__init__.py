"""Sessions at work, each with an inbox and a task."""

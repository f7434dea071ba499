"""Files as a log tells them: lines that were shown and changed. Knows no plan and no disk."""

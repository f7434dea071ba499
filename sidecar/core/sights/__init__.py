"""Files as a log tells them: lines shown and changed."""

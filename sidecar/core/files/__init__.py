"""States of a folder, authors of changes, and undoing. Knows no disk and no prompt."""

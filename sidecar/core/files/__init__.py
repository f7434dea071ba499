"""States of a folder, authors of changes, and undoing."""

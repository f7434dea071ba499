"""States of a folder, who changed what, and how it is taken back. Knows no disk and no prompt."""

"""Lists each program's words that a rule's `*` covers, and why not the rest."""

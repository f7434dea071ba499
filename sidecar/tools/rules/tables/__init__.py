"""Lists which words of each program a rule's `*` covers, and why not the rest."""

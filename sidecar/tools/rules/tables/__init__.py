"""What a rule's `*` covers of each program, and why not the rest."""

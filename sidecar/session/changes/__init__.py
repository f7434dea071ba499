"""Who changed what in the workspace, and what may be changed. Knows no turn and no state."""

"""The imperative shell: one inbox and one task per session, the turn loop, permissions."""

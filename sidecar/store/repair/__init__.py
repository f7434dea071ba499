"""What is wrong with a store, and what can be saved of it. Above all but the journal."""

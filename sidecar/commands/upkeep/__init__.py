"""Commands that check, clear and export a store."""

"""The head of a prompt and its changes."""

"""The static head of a prompt, and its changes."""

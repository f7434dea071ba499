"""The prompt: its view, blocks, cached prefix, size and price."""

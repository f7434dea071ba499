"""Tools for the model: built in, provided by the client, and of MCP servers."""

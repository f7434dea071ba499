"""Tools for the model: built in, a client's, MCP servers'."""

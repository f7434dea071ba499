"""Tools of MCP servers, within limits."""

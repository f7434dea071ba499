"""Tools of MCP servers, within limits. Knows no built-in tool."""

"""Notice changes in a workspace, by events or by looking at each path."""

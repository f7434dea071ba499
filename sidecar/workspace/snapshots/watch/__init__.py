"""Notice changes in a workspace, by events or by stats."""

"""How changes in a workspace are noticed: by events, or by a look at each path."""

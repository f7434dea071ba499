"""How full, how warm and how idle a session is. Decides nothing, rewrites nothing."""

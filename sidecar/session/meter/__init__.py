"""How full, how warm and how idle a session is, and pings that keep it warm. Rewrites nothing."""

"""Sessions at work: one inbox and one task each. Knows no JSON-RPC, SDK or SQL."""

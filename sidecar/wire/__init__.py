"""Alone in knowing pygls, framing and JSON-RPC. Knows no store, model or workspace."""

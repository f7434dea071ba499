"""Alone in knowing pygls, framing and JSON-RPC."""

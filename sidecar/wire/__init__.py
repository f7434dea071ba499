"""The only place that knows pygls, lsprotocol, JSON framing and JSON-RPC."""

"""The only package that knows pygls, lsprotocol, JSON framing and JSON-RPC."""

"""The only package that knows pygls, framing and JSON-RPC."""

"""The wire's types, by family; `protocol.generate` writes everything else from them.

Rules: snake_case here is camelCase on the wire. An optional field that is absent is `UNSET`, never
null. What a client sends is closed (`Literal`); what the daemon sends is open: an `Annotated[str,
Meta(examples=...)]` names the values known today, and readers ignore others. `Any` and
`dict[str, Any]` are opaque JSON, passed on as they came, keys and all.
"""

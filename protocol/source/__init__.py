"""The wire's types, by family; `protocol.generate` writes everything else from these.

Rules: snake_case here is camelCase on the wire. An absent optional field is `UNSET`, never null.
Clients send closed sets (`Literal`); the daemon sends open ones: an
`Annotated[str, Meta(examples=...)]` names the values known today, and readers ignore others. `Any`
and `dict[str, Any]` are opaque JSON, passed on unchanged, keys and all.
"""

"""A module per family of methods; handlers take connection, params, ticket."""

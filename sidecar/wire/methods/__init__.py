"""One module per family of methods; each handler takes a connection, params and a ticket."""

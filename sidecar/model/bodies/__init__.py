"""JSON of requests and answers, as all vendors' APIs need it."""

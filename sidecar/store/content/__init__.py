"""Each kind of content in SQL, inside the caller's transaction."""

"""Each kind of content in SQL, in the caller's transaction."""

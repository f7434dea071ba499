"""Each kind of content as SQL, on a connection that is given. Commits nothing."""

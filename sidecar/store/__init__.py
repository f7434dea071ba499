"""SQLite storage: alone in knowing sqlite3, msgpack, zstd. Knows no meaning of a body."""

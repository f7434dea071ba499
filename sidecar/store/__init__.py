"""SQLite storage: alone in knowing sqlite3, msgpack, zstd."""

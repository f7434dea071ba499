"""The only place that knows sqlite3, msgpack and zstd."""

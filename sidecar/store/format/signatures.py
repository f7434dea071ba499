"""First bytes of files, which tell their format."""

from typing import Final

SQLITE: Final = b"SQLite format 3\0"
GZIP: Final = b"\x1f\x8b"
ZSTD: Final = b"\x28\xb5\x2f\xfd"

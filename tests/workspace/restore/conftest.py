"""A folder to restore files in, and a limit for every test."""

from tests.limit import limit
from tests.workspace.restore.site import site

__all__ = ["limit", "site"]

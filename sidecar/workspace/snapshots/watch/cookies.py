"""A watch by `watchfiles` that writes a file, the cookie, into a watched folder.

Once the cookie's event arrives, all earlier events have arrived.
"""

import os
import threading
from contextlib import suppress
from pathlib import Path
from time import monotonic

from watchfiles._rust_notify import RustNotify, WatchfilesRustInternalError

from sidecar.store.connection.store_files import make_folder
from sidecar.workspace.snapshots.watch.watch import Mode, Noticed, WatchFailed

PATIENCE = 1.0
"""Seconds for a cookie; then everything is looked at."""
ELSEWHERE = (
    "The folder is on another disk or share than Sidecar's data, so no event there says that all "
    "of this folder's came: files are looked at instead."
)
"""A share's own events never arrive with the local cookie's."""
DEBOUNCE_MS = 5
STEP_MS = 1
ADDED, DELETED = 1, 3


class CookieWatch:
    """Watches a workspace with all below, ignored folders too."""

    mode: Mode = "watchfiles"

    def __init__(self, root: Path, cookies: Path) -> None:
        # Events carry real paths on some systems.
        self._root = os.path.realpath(root) + os.sep
        self._cookies = cookies
        self._number = 0
        self._ended = threading.Event()
        try:
            make_folder(cookies)
            if os.stat(root).st_dev != os.stat(cookies).st_dev:
                raise WatchFailed(ELSEWHERE)
            self._notify = RustNotify([str(root), str(cookies)], False, False, 0, True, True)
        except (OSError, RuntimeError, UnicodeEncodeError) as error:
            raise WatchFailed(f"The system gives no events: {error}") from error

    def add(self, folder: bytes) -> None:
        """Subfolders are watched already."""

    def drop(self, folder: bytes) -> None:
        """Removed folders are no longer watched."""

    def idle(self) -> bool:
        """Only `settle` can tell."""
        return False

    def drain(self, into: Noticed) -> bool:  # noqa: ARG002 - a `Watch` takes it
        return False

    def settle(self, into: Noticed) -> bool:
        """Makes a cookie and takes all events up to the cookie's own.

        Makes a second if folders came or went, since watching follows their event.
        """
        if not self._until_cookie(into):
            return False
        return self._until_cookie(into) if into.folders else True

    def close(self) -> None:
        self._ended.set()
        self._notify.close()

    def _until_cookie(self, into: Noticed) -> bool:
        self._number += 1
        cookie = self._cookies / f"{os.getpid()}-{id(self)}-{self._number}"
        try:
            cookie.touch()
        except OSError:
            return False
        try:
            return self._collect(os.path.realpath(cookie), into)
        finally:
            with suppress(OSError):
                cookie.unlink()

    def _collect(self, cookie: str, into: Noticed) -> bool:
        give_up = monotonic() + PATIENCE
        while (left := give_up - monotonic()) > 0:
            try:
                found = self._notify.watch(DEBOUNCE_MS, STEP_MS, max(1, int(left * 1000)), None)
            except WatchfilesRustInternalError as error:
                raise WatchFailed(f"The watch of the folder ended: {error}") from error
            if isinstance(found, str):
                return False
            came = False
            for change, path in found:
                came = came or path == cookie
                self._notice(change, path, into)
            if came:
                return True
        return False

    def _notice(self, change: int, path: str, into: Noticed) -> None:
        if not path.startswith(self._root):
            if path + os.sep == self._root:
                into.lose()
            return
        relative = os.fsencode(path[len(self._root) :].replace(os.sep, "/"))
        # Which ones are folders is not told, and one that is gone cannot be asked.
        if change in (ADDED, DELETED):
            into.folders.add(relative)
        else:
            into.add(relative)

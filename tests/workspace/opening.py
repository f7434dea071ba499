"""Something happens right before a file is opened, for races that come out the same each time."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Opening:
    """Listens where Python tells what it opens. It cannot be taken off, only turned off."""

    def __init__(self) -> None:
        self.on = False
        self.count = 0
        self.paths: list[str | bytes] = []
        self.number = 0
        self.deed: Callable[[], object] = lambda: None
        sys.addaudithook(self._listen)

    @contextmanager
    def counted(self) -> Iterator["Opening"]:
        """Count what is opened, in `count`, and keep in `paths` what it was opened by."""
        self.on, self.count, self.number, self.paths = True, 0, 0, []
        try:
            yield self
        finally:
            self.on = False

    @contextmanager
    def before(self, number: int, deed: Callable[[], object]) -> Iterator[None]:
        """Do something once, before so many-th thing is opened; it must come to that."""
        with self.counted():
            self.number, self.deed = number, deed
            yield
        assert self.count >= number, f"only {self.count} were opened"

    def _listen(self, event: str, arguments: tuple[object, ...]) -> None:
        if not self.on or event != "open":
            return
        self.count += 1
        if isinstance(arguments[0], str | bytes):
            self.paths.append(arguments[0])
        if self.count == self.number:
            # What it opens itself does not count.
            self.on = False
            self.deed()
            self.on = True


OPENING = Opening()

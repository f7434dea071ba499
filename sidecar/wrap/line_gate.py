"""Cuts a stream into bytes to pass on and lines to look at."""

from collections.abc import Iterator, Sequence

from sidecar.core.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class PassingBytes:
    """Bytes that need no look."""

    data: bytes


@dataclass(frozen=True, slots=True)
class LookedLine:
    """A whole line with a name of interest, its newline included."""

    line: bytes


class LineGate:
    """Holds an unfinished line, up to `most` bytes; a longer one passes without a look."""

    def __init__(self, names: Sequence[bytes], most: int) -> None:
        self._names = names
        self._most = most
        self._held = b""
        self.inside = False
        """Whether a line has passed in part."""

    @property
    def holds(self) -> bool:
        return bool(self._held)

    @property
    def is_of_interest(self) -> bool:
        return self._names_in(self._held)

    def take(self, data: bytes) -> Iterator[PassingBytes | LookedLine]:
        if self.inside:
            end = data.find(b"\n") + 1
            if not end:
                yield PassingBytes(data)
                return
            self.inside = False
            yield PassingBytes(data[:end])
            data = data[end:]
        data = self._held + data
        end = data.rfind(b"\n") + 1
        whole, self._held = data[:end], data[end:]
        if whole:
            yield from self._cut(whole)
        if len(self._held) > self._most:
            yield from self.flush()

    def flush(self) -> Iterator[PassingBytes]:
        """Gives up on the held line."""
        if self._held:
            held, self._held, self.inside = self._held, b"", True
            yield PassingBytes(held)

    def _cut(self, whole: bytes) -> Iterator[PassingBytes | LookedLine]:
        if not self._names_in(whole):
            yield PassingBytes(whole)
            return
        passing: list[bytes] = []
        for line in _lines(whole):
            if not self._names_in(line):
                passing.append(line)
                continue
            if passing:
                yield PassingBytes(b"".join(passing))
                passing = []
            yield LookedLine(line)
        if passing:
            yield PassingBytes(b"".join(passing))

    def _names_in(self, data: bytes) -> bool:
        return any(name in data for name in self._names)


def _lines(whole: bytes) -> Iterator[bytes]:
    """Splits at newlines alone."""
    for line in whole.split(b"\n")[:-1]:
        yield line + b"\n"

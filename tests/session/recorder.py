"""Records what is entered of the product while something is done: each function once, in order."""

import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType

import sidecar

ROOT = str(Path(sidecar.__file__).parent) + "/"


@dataclass
class Entered:
    """`names` are of functions, as `session/turn/step.Steps.run`, by when they were first entered.

    `times` says how often; what waits and goes on counts again. Lambdas, comprehensions and
    functions within functions are left out.
    """

    names: list[str] = field(default_factory=list)
    times: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._known: dict[CodeType, str] = {}

    def forget(self) -> None:
        """Begin anew."""
        self.names.clear()
        self.times.clear()

    def enter(self, frame: FrameType, event: str, _: object) -> None:
        """Take in an event of a profile."""
        if event != "call":
            return
        code = frame.f_code
        name = self._known.get(code)
        if name is None:
            name = self._known[code] = _name(code)
        if name:
            if name not in self.times:
                self.names.append(name)
            self.times[name] += 1


def _name(code: CodeType) -> str:
    if not code.co_filename.startswith(ROOT) or "<" in code.co_qualname:
        return ""
    module = code.co_filename.removeprefix(ROOT).removesuffix(".py")
    return f"{module}.{code.co_qualname}"


@contextmanager
def entered() -> Iterator[Entered]:
    """Record what is entered, in this thread and in those that begin meanwhile."""
    seen, before = Entered(), sys.getprofile()
    threading.setprofile(seen.enter)
    sys.setprofile(seen.enter)
    try:
        yield seen
    finally:
        sys.setprofile(before)
        threading.setprofile(None)

"""What a model does in turns of a session that prints long logs, in any agent's words.

A turn reads a module, builds it (a log of some thousand tokens), edits a line, looks at the
difference and answers: five requests. The numbers are those of `tests/replay/log_heavy`.
"""

import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from tests.replay.log_heavy import LONG, MODULES, SHORT, SLOTS, build_log, module_text, slot

BUILD = "build.sh"


@dataclass(frozen=True, slots=True)
class Read:
    path: str


@dataclass(frozen=True, slots=True)
class Shell:
    command: str


@dataclass(frozen=True, slots=True)
class Edit:
    path: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Say:
    words: str


Act = Read | Shell | Edit | Say


@dataclass(frozen=True, slots=True)
class Turn:
    """`pause` are the seconds before `prompt` was typed."""

    prompt: str
    acts: tuple[Act, ...]
    pause: float


@dataclass
class Script:
    """A git repository of some modules, and what is asked of it turn by turn."""

    root: Path
    turns: int
    _levels: list[list[int]] = field(default_factory=lambda: [[0] * SLOTS for _ in range(MODULES)])

    def __post_init__(self) -> None:
        source = self.root / "src"
        source.mkdir(parents=True)
        for module, levels in enumerate(self._levels):
            (source / f"mod_{module:02}.py").write_text(module_text(module, levels) + "\n")
        logs = self.root.with_name(f"{self.root.name}-logs")
        logs.mkdir()
        for number in range(self.turns):
            (logs / f"{number}.txt").write_text(build_log(number) + "\n")
        (self.root / BUILD).write_text(f'exec cat "{logs}/$1.txt"\n')
        name = ["-c", "user.name=a", "-c", "user.email=a@b"]
        for command in (["init", "-q"], ["add", "."], [*name, "commit", "-qm", "begun"]):
            subprocess.run(["git", *command], cwd=self.root, check=True)

    def turn(self, number: int) -> Turn:
        """Give the turn of this number; each is asked for once, in order."""
        module, at = number % MODULES, number * 7 % SLOTS
        path = f"src/mod_{module:02}.py"
        before = slot(module, at, self._levels[module][at])
        self._levels[module][at] = number + 1
        return Turn(
            f"Set slot_{at:03} in {path} to level {number + 1} and see that it builds.",
            (
                Read(path),
                Shell(f"sh {BUILD} {number}"),
                Edit(path, before, slot(module, at, number + 1)),
                Shell(f"git diff {path}"),
                Say(f"slot_{at:03} of {path} has level {number + 1}; mod_{module:02} builds."),
            ),
            (LONG if number % 3 == 2 else SHORT) / 1_000,
        )

    def check(self) -> None:
        """Raises AssertionError where an edit did not reach its file."""
        for module, levels in enumerate(self._levels):
            written = (self.root / "src" / f"mod_{module:02}.py").read_text()
            assert written == module_text(module, levels) + "\n", module

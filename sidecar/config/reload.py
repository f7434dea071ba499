"""Applies changed settings next turn, in new sessions or after a restart."""

from collections.abc import Sequence
from dataclasses import field, fields, replace
from pathlib import Path
from typing import TypeAlias

from sidecar.config.document import given, in_words, shown
from sidecar.config.layers import Problem, Resolved
from sidecar.config.setting import Applies, Setting
from sidecar.config.settings import SETTINGS, TABLES, Config, value_of
from sidecar.core.dataclass import dataclass
from sidecar.core.parts import JsonObject

Stamps: TypeAlias = tuple[tuple[int, int, int] | None, ...]
_WHEN: dict[Applies, str] = {
    "turn": "From the next turn",
    "session": "In sessions that begin now",
    "restart": "Only after a restart of Sidecar",
}


@dataclass(frozen=True, slots=True)
class Reloaded:
    """The new configuration, and messages (`bad`: warnings)."""

    config: Config
    told: tuple[str, ...]
    bad: bool = False


def reloaded(before: Config, after: Config, problems: Sequence[Problem]) -> Reloaded:
    """Applies changes that need no restart.

    An unusable value, what is no rule, or an unreadable file keeps the old configuration, but adds
    new rejecting rules, as a folder may be trusted meanwhile. An unusable value in a workspace's
    file keeps the file's old rejecting rules.
    """
    wrong = [problem for problem in problems if problem.hides_rules or not problem.unknown]
    both = tuple(dict.fromkeys((*before.permissions.reject, *after.permissions.reject)))
    if any(not problem.theirs for problem in wrong):
        said = " ".join(str(problem) for problem in problems)
        more = ", but for new rejecting rules" if both != before.permissions.reject else ""
        text = f"The settings stay as they were{more}. {said}"
        return Reloaded(_rejecting(before, both), (text,), bad=True)
    if wrong:
        after = _rejecting(after, both)
    ignored = tuple(str(problem) for problem in problems)
    changed = [one for one in SETTINGS.values() if _differs(one, before, after)]
    told = tuple(
        f"{words}: {', '.join(_value(one, after) for one in changed if one.applies == when)}."
        for when, words in _WHEN.items()
        if any(one.applies == when for one in changed)
    )
    return Reloaded(_taken(before, after), (*told, *ignored), bad=bool(ignored))


@dataclass(slots=True)
class CurrentSettings:
    """The present settings; `amiss`: the files' errors; `described`: see `given`."""

    config: Config
    amiss: tuple[str, ...] = ()
    described: JsonObject = field(default_factory=dict)

    @classmethod
    def of(cls, resolved: Resolved) -> "CurrentSettings":
        config = resolved.config
        return cls(config, tuple(map(str, resolved.problems)), given(resolved, config))

    def take(self, resolved: Resolved) -> Reloaded:
        result = reloaded(self.config, resolved.config, resolved.problems)
        self.config = result.config
        self.amiss = tuple(map(str, resolved.problems))
        self.described = given(resolved, self.config)
        return result


def stamps(files: Sequence[Path]) -> Stamps:
    """Returns inode, bytes and ctime (ns) of each file, or `None`; a `chmod` changes ctime, too."""
    found: list[tuple[int, int, int] | None] = []
    for file in files:
        try:
            about = file.stat()
        except OSError:
            found.append(None)
        else:
            found.append((about.st_ino, about.st_size, about.st_ctime_ns))
    return tuple(found)


def _rejecting(config: Config, rules: tuple[str, ...]) -> Config:
    return replace(config, permissions=replace(config.permissions, reject=rules))


def _differs(one: Setting, before: Config, after: Config) -> bool:
    return value_of(before, one.name) != value_of(after, one.name)


def _value(one: Setting, config: Config) -> str:
    return f"{one.name} = {in_words(shown(one, value_of(config, one.name)))}"


def _taken(before: Config, after: Config) -> Config:
    kept = [one.name for one in SETTINGS.values() if one.applies == "restart"]
    plain = {name: value_of(before, name) for name in kept if "." not in name}
    tables = {}
    for table in TABLES:
        names = [f"{table}.{one.name}" for one in fields(getattr(before, table))]
        old = {n.partition(".")[2]: value_of(before, n) for n in names if n in kept}
        tables[table] = replace(getattr(after, table), **old)
    return replace(after, **plain, **tables)  # type: ignore[arg-type] # each from a configuration

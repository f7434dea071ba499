"""Declares settings, for `docs`, the sample file and `config show`."""

from collections.abc import Callable, Iterator
from dataclasses import MISSING, Field, field, fields, is_dataclass
from typing import Literal, TypeAlias, TypeVar, overload

from sidecar.core.dataclass import dataclass

Applies: TypeAlias = Literal["turn", "session", "restart"]
"""Start of a changed value: next turn, new sessions, restart."""

T = TypeVar("T")
_ABOUT = "setting"


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads a setting's value; `kind` names accepted values.

    `read` raises ValueError with a sentence's end: "must be …". `doubt` returns such an end for
    values without effect, else nothing.
    """

    kind: str
    read: Callable[[object], object]
    doubt: Callable[[object], str] = lambda _: ""


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting, not for workspaces if `own`; `theirs` reads a workspace's values.

    `secret`: never shown. `adds_up`: the layers' lists are joined.
    """

    name: str
    default: object
    reader: Reader
    meaning: str
    applies: Applies
    own: bool
    secret: bool
    adds_up: bool
    theirs: Reader


@dataclass(frozen=True, slots=True)
class _About:
    reader: Reader
    meaning: str
    applies: Applies
    own: bool
    secret: bool
    adds_up: bool
    theirs: Reader


@overload
def setting(
    default: Callable[[], T],
    reader: Reader,
    meaning: str,
    *,
    applies: Applies = "session",
    own: bool = False,
    secret: bool = False,
    adds_up: bool = False,
    theirs: Reader | None = None,
) -> T: ...
@overload
def setting(
    default: T,
    reader: Reader,
    meaning: str,
    *,
    applies: Applies = "session",
    own: bool = False,
    secret: bool = False,
    adds_up: bool = False,
    theirs: Reader | None = None,
) -> T: ...
def setting(
    default: object,
    reader: Reader,
    meaning: str,
    *,
    applies: Applies = "session",
    own: bool = False,
    secret: bool = False,
    adds_up: bool = False,
    theirs: Reader | None = None,
) -> object:
    """Declares a dataclass field; a callable `default` is called."""
    given = _About(reader, meaning, applies, own, secret, adds_up, theirs or reader)
    about = {_ABOUT: given}
    if callable(default):
        return field(default_factory=default, metadata=about)
    return field(default=default, metadata=about)


def table_of(owner: type) -> dict[str, type]:
    made: dict[str, object] = {one.name: one.default_factory for one in fields(owner)}
    return {k: kind for k, kind in made.items() if isinstance(kind, type) and is_dataclass(kind)}


def settings_of(owner: type) -> dict[str, Setting]:
    return {one.name: one for one in _settings(owner)}


def _settings(owner: type, prefix: str = "") -> Iterator[Setting]:
    tables = table_of(owner)
    for one in fields(owner):
        if one.name in tables:
            yield from _settings(tables[one.name], f"{one.name}.")
        else:
            about: _About = one.metadata[_ABOUT]
            yield Setting(
                prefix + one.name,
                _default(one),
                about.reader,
                about.meaning,
                about.applies,
                about.own,
                about.secret,
                about.adds_up,
                about.theirs,
            )


def _default(one: "Field[object]") -> object:
    return one.default_factory() if one.default_factory is not MISSING else one.default

"""Our `dataclass` makes of a class what the standard library's makes of it."""

import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field, replace
from typing import Any

import pytest

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import PartId, TextPart

Decorate = Callable[..., Any]
FROZEN = {"frozen": True, "slots": True}


def point(decorate: Decorate, **options: bool) -> Any:
    @decorate(**options)
    class Point:
        x: int
        y: float = 0.5
        names: list[str] = field(default_factory=list, hash=False)
        seen: int = field(default=0, compare=False)
        hidden: str = field(default="secret", repr=False)

    return Point


def counted(decorate: Decorate, **options: bool) -> Any:
    @decorate(**options)
    class Counted:
        """Some."""

        given: int
        twice: int = field(init=False, repr=False)
        rest: list[int] = field(init=False, default_factory=list, hash=False)
        some: tuple[int, ...] = field(init=False, default=())

        def __post_init__(self) -> None:
            object.__setattr__(self, "twice", self.given * 2)

    return Counted


def spoken(decorate: Decorate, **options: bool) -> Any:
    @decorate(**options)
    class Spoken:
        text: str

        def __repr__(self) -> str:
            return self.text

    return Spoken


def empty(decorate: Decorate, **options: bool) -> Any:
    @decorate(**options)
    class Empty:
        pass

    return Empty


def inherited(decorate: Decorate, **options: bool) -> Any:
    @decorate(**options)
    class Base:
        x: int
        names: list[str] = field(default_factory=list, hash=False)

    @decorate(**options)
    class More(Base):
        z: int = 3

    return More


MADE: dict[str, tuple[Callable[..., Any], list[tuple[Any, ...]]]] = {
    "point": (
        point,
        [(1,), (1, 0.5), (2, 1.5), (1, 0.5, ["a"]), (1, 0.5, [], 9), (1, 0.5, [], 0, "")],
    ),
    "counted": (counted, [(1,), (2,)]),
    "spoken": (spoken, [("a",), ("b",)]),
    "empty": (empty, [()]),
    "inherited": (inherited, [(1,), (1, [], 4)]),
}
OPTIONS = [
    FROZEN,
    {"slots": True},
    {"frozen": True, "slots": True, "eq": False},
    {"slots": True, "eq": False},
    {"frozen": True, "slots": True, "weakref_slot": True},
]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("name", MADE)
def test_values_are_as_of_the_library(name: str, options: dict[str, bool]) -> None:
    make, given = MADE[name]
    ours, theirs = make(dataclass, **options), make(dataclasses.dataclass, **options)
    mine, others = [ours(*some) for some in given], [theirs(*some) for some in given]
    assert list(map(repr, mine)) == list(map(repr, others))
    assert [[a == b for b in mine] for a in mine] == [[a == b for b in others] for a in others]
    assert ours.__match_args__ == theirs.__match_args__
    assert ours.__slots__ == theirs.__slots__
    assert (ours.__hash__ is None) == (theirs.__hash__ is None)
    if options == FROZEN:
        assert [[hash(a) == hash(b) for b in mine] for a in mine] == [
            [hash(a) == hash(b) for b in others] for a in others
        ]


@pytest.mark.parametrize("arguments", [(), (1, 2.0, [], 0, "", 7)])
def test_what_is_missing_or_too_much_is_told_as_by_the_library(arguments: tuple[Any, ...]) -> None:
    told = []
    for decorate in (dataclass, dataclasses.dataclass):
        with pytest.raises(TypeError) as caught:
            point(decorate, **FROZEN)(*arguments)
        told.append(str(caught.value))
    assert told[0] == told[1]


def test_each_has_a_default_of_its_own() -> None:
    made = point(dataclass, slots=True)
    one, other = made(1), made(1)
    one.names.append("a")
    assert (other.names, made(1).names) == ([], [])


def test_nothing_frozen_is_changed() -> None:
    value = point(dataclass, **FROZEN)(1)
    with pytest.raises(FrozenInstanceError, match="field 'x'"):
        value.x = 2
    with pytest.raises(FrozenInstanceError, match="field 'x'"):
        del value.x
    assert value.x == 1
    other = replace(value, x=2)
    assert (other.x, other.y, value.x) == (2, 0.5, 1)


def test_values_are_copied_and_pickled() -> None:
    part = TextPart(PartId("p"), "words", "typed")
    assert copy.copy(part) == copy.deepcopy(part) == pickle.loads(pickle.dumps(part)) == part


def test_those_that_hold_themselves_are_shown() -> None:
    value = point(dataclass, slots=True)(1)
    value.names.append(value)
    assert "..." in repr(value)


def test_a_class_is_like_no_other_with_the_same_values() -> None:
    one, other = spoken(dataclass, **FROZEN), spoken(dataclass, **FROZEN)
    assert one("a") == one("a")
    assert one("a") != other("a")


def test_what_would_be_something_else_is_refused() -> None:
    with pytest.raises(TypeError, match="Keyed: named"):

        @dataclass(slots=True)
        class Keyed:
            named: int = field(kw_only=True)

    with pytest.raises(TypeError, match="Hashed: hidden"):

        @dataclass(frozen=True, slots=True)
        class Hashed:
            hidden: int = field(hash=True, compare=False)

    equal = type("Equal", (), {"__annotations__": {"some": int}, "__eq__": object.__ne__})
    with pytest.raises(TypeError, match="Equal: __eq__ without __hash__"):
        dataclass(frozen=True, slots=True)(equal)

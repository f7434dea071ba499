"""The standard library's `dataclass`, of whose classes each method is compiled when first called.

The library compiles up to seven functions as it makes a class. A command makes two hundred classes
of which it uses half, a daemon five hundred. Fields, slots and patterns stay the library's, so that
`replace`, `fields` and `match` work.
"""

from collections.abc import Callable, Iterable
from dataclasses import MISSING, Field, FrozenInstanceError, fields
from dataclasses import dataclass as described
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeAlias, TypeVar, cast

__all__ = ["dataclass"]

_Names: TypeAlias = dict[str, Any]
_Class = TypeVar("_Class", bound=type)

if TYPE_CHECKING:
    # Type checkers know what the library's makes of a class.
    from dataclasses import dataclass
else:

    def dataclass(
        *, slots: Literal[True], frozen: bool = False, eq: bool = True, weakref_slot: bool = False
    ) -> Callable[[_Class], _Class]:
        """Takes the library's options that are used here; a class's own methods stay."""

        def make(given: _Class) -> _Class:
            own = set(vars(given))
            # Without a docstring the library spells out the signature.
            given.__doc__ = given.__doc__ or given.__name__
            bare = described(
                init=False, repr=False, eq=False, slots=slots, weakref_slot=weakref_slot
            )
            made = bare(given)
            _check(given, made, frozen=frozen)
            for name, method in _methods(made, frozen=frozen, eq=eq).items():
                if name not in own:
                    setattr(made, name, method)
            return made

        return make


def _check(given: type, made: type, *, frozen: bool) -> None:
    """Raises TypeError for what the library knows and would be something else here."""
    odd = [one.name for one in _fields(made) if one.kw_only or (one.hash and not one.compare)]
    if frozen and vars(given).get("__hash__", ...) is None:
        odd.append("__eq__ without __hash__")
    if odd:
        raise TypeError(f"{given.__name__}: {', '.join(odd)}: write this by hand")


def _methods(made: type, *, frozen: bool, eq: bool) -> dict[str, Any]:
    found: dict[str, Any]
    found = {"__init__": _late(made, "__init__", lambda: _init(made, frozen)), "__repr__": _repr}
    if frozen:
        found |= {"__setattr__": _set, "__delattr__": _delete, "__setstate__": _restore}
    if eq:
        found["__eq__"] = _late(made, "__eq__", lambda: _eq(made))
        found["__hash__"] = _late(made, "__hash__", lambda: _hash(made)) if frozen else None
    return found


def _late(made: type, name: str, write: Callable[[], tuple[str, _Names]]) -> Callable[..., Any]:
    """Stands for a method until a call; `write` gives the source, and what that one names."""

    def first(self: object, *arguments: object, **named: object) -> object:
        text, scope = write()
        scope["__name__"] = made.__module__
        # Of fields' names alone, as in the library.
        exec(text, scope)
        method = scope[name]
        method.__qualname__ = f"{made.__qualname__}.{name}"
        setattr(made, name, method)
        return method(self, *arguments, **named)

    return first


def _init(made: type, frozen: bool) -> tuple[str, _Names]:
    scope: _Names = {"_no": MISSING}
    given, lines = ["self"], list[str]()
    for one in _fields(made):
        name, default = one.name, f"_default_{one.name}"
        made_anew = one.default_factory is not MISSING
        has_default = made_anew or one.default is not MISSING
        scope[default] = one.default_factory if made_anew else one.default
        if one.init:
            given.append(f"{name}={'_no' if made_anew else default}" if has_default else name)
            value = f"{default}() if {name} is _no else {name}" if made_anew else name
        elif has_default:
            value = f"{default}()" if made_anew else default
        else:
            continue
        # Past `__setattr__`, and quicker than that of `object`.
        scope[f"_set_{name}"] = getattr(made, name).__set__
        lines.append(f" _set_{name}(self, {value})" if frozen else f" self.{name} = {value}")
    if hasattr(made, "__post_init__"):
        lines.append(" self.__post_init__()")
    return "\n".join([f"def __init__({', '.join(given)}):", *lines, " return"]), scope


def _eq(made: type) -> tuple[str, _Names]:
    names = [one.name for one in _fields(made) if one.compare]
    same = f"{_values('self', names)} == {_values('other', names)}"
    kin = "other.__class__ is self.__class__"
    return f"def __eq__(self, other):\n return {same} if {kin} else NotImplemented", {}


def _hash(made: type) -> tuple[str, _Names]:
    names = [one.name for one in _fields(made) if one.compare and one.hash is not False]
    return f"def __hash__(self):\n return hash({_values('self', names)})", {}


def _fields(of: object) -> tuple[Field[Any], ...]:
    """Of a class of ours, or of one of its values."""
    return fields(cast("Any", of))


def _values(of: str, names: Iterable[str]) -> str:
    return f"({''.join(f'{of}.{name}, ' for name in names)})"


@recursive_repr()
def _repr(self: object) -> str:
    shown = (f"{one.name}={getattr(self, one.name)!r}" for one in _fields(self) if one.repr)
    return f"{self.__class__.__qualname__}({', '.join(shown)})"


def _set(_: object, name: str, _value: object) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _delete(_: object, name: str) -> NoReturn:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _restore(self: object, state: tuple[None, dict[str, object]]) -> None:
    """Takes the values of a copy or a pickle."""
    for name, value in state[1].items():
        object.__setattr__(self, name, value)

"""Changes to JSON and to bytes that keep most of the shape, so that they get past the door."""

import json
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from tests.fuzz.dice import Dice

Value: TypeAlias = Any
"""JSON, and where a target says so bytes and the like."""

ODD: tuple[Value, ...] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**53 + 1, 2**63, -(2**63) - 1, 10**400, 10**4000),
    *(0.5, -0.0, 1e300, float("inf"), float("-inf"), float("nan")),
    *(
        "",
        " ",
        "x",
        "\0",
        "\ud800",
        "\udc80x",
        "é😀\u2028",
        "../..",
        "%s%n{}",
        "\x1b[31m",
        "(a+)+$",
    ),
    *("x" * 2_000, "\n" * 300, "2026-01-05T10:00:00Z", "1e999", "-0", "NaN", "$/x", "__class__"),
    *([], [[]], [None], ["x", 1], [{}], {}, {"": None}, {"type": "text"}, {"type": []}),
)


def deep(levels: int) -> Value:
    """Give lists within lists."""
    value: Value = []
    for _ in range(levels):
        value = [value]
    return value


def mutated(
    value: Value, dice: Dice, *, odd: Sequence[Value] = ODD, donors: Sequence[Value] = ()
) -> Value:
    """Give a value with some changes within; the given one is left as it is."""
    root = [value]
    for _ in range(dice.below(5)):
        _change(root, dice, odd, donors)
    return root[0]


def text_of(value: Value) -> str:
    """Give JSON text; infinities as numbers that overflow, which are JSON."""
    return json.dumps(value, ensure_ascii=False).replace("Infinity", "1e999")


def scrambled(data: bytes, dice: Dice) -> bytes:
    """Give bytes with some changed, cut out, doubled or put in."""
    raw = bytearray(data)
    for _ in range(dice.below(6)):
        at = dice.below(len(raw) + 1)
        match dice.below(6):
            case 0:
                raw[at : at + 1] = dice.take(1)
            case 1:
                del raw[at : at + 1 + dice.below(32)]
            case 2:
                raw[at:at] = raw[at : at + 1 + dice.below(64)]
            case 3:
                raw[at:at] = dice.take(1 + dice.below(8))
            case 4 if at < len(raw):
                raw[at] ^= 1 << dice.below(8)
            case _:
                del raw[at:]
    return bytes(raw)


def _change(root: list[Value], dice: Dice, odd: Sequence[Value], donors: Sequence[Value]) -> None:
    """Change one place; what is changed is copied on the way down."""
    holder: Value = root
    key: Value = 0
    while True:
        inner = holder[key]
        if not isinstance(inner, dict | list) or not inner or dice.chance(6):
            break
        holder[key] = inner = inner.copy()
        at = dice.below(len(inner))
        holder, key = inner, list(inner)[at] if isinstance(inner, dict) else at
    _ACTS[dice.below(len(_ACTS))](holder, key, dice, (odd, donors))


_Pools: TypeAlias = tuple[Sequence[Value], Sequence[Value]]


def _edit(holder: Value, key: Value, dice: Dice, pools: _Pools) -> None:
    match holder[key]:
        case bool(flag):
            holder[key] = not flag
        case int(number):
            holder[key] = dice.pick((number + 1, number - 1, -number, number * 1_000, 0.5))
        case str(text):
            at = dice.below(len(text) + 1)
            more = dice.take(1 + dice.below(4)).decode("utf-8", "surrogateescape")
            holder[key] = dice.pick((text[:at], text[:at] + more + text[at:], text[at:], text * 3))
        case bytes(data):
            holder[key] = scrambled(data, dice)
        case list() | dict() as some if some:
            holder[key] = type(some)(list(some.items() if isinstance(some, dict) else some)[::-1])
        case _:
            _replace(holder, key, dice, pools)


def _replace(holder: Value, key: Value, dice: Dice, pools: _Pools) -> None:
    holder[key] = dice.pick(pools[0])


def _graft(holder: Value, key: Value, dice: Dice, pools: _Pools) -> None:
    holder[key] = dice.pick(pools[1]) if pools[1] else dice.pick(pools[0])


def _remove(holder: Value, key: Value, dice: Dice, pools: _Pools) -> None:
    del pools
    if isinstance(holder, dict) or len(holder) > 1:
        del holder[key]
    else:
        holder[key] = deep(dice.pick((2, 99, 101, 300)))


def _double(holder: Value, key: Value, dice: Dice, pools: _Pools) -> None:
    del pools
    if isinstance(holder, dict):
        holder[dice.pick([*holder, "type", "x", ""])] = holder[key]
    else:
        holder[key:key] = [holder[key]] * (1 + dice.below(3))


def _wrap(holder: Value, key: Value, dice: Dice, pools: _Pools) -> None:
    del pools
    holder[key] = [holder[key]] if dice.below(2) else {"type": holder[key]}


_Act: TypeAlias = Callable[[Value, Value, Dice, _Pools], None]
_ACTS: tuple[_Act, ...] = (_edit, _replace, _replace, _graft, _remove, _double, _wrap)

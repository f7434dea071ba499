"""What is made of a growing log's messages is made once, and again of what changed."""

import random
from dataclasses import replace

from sidecar.core.conversation.growing import Growing, identical, unchanged
from sidecar.core.parts import Message, MessageId, TurnId


def message(number: int) -> Message:
    return Message(MessageId(f"m{number}"), TurnId("t"), "user", (), number)


def values(one: Message) -> list[int]:
    """Give none, one or more."""
    return [one.created] * (one.created % 3)


def test_only_what_is_new_or_changed_is_made() -> None:
    made: list[int] = []

    def make(one: Message) -> tuple[int, ...]:
        made.append(one.created)
        return (one.created,)

    log, growing = [message(n) for n in range(1_000)], Growing(make)
    assert list(growing.of(log)) == list(range(1_000))
    made.clear()
    log.append(message(1_000))
    log[-2] = replace(log[-2], created=-1)
    assert list(growing.of(iter(log)))[-3:] == [998, -1, 1_000]
    assert made == [-1, 1_000]


def test_any_change_is_seen() -> None:
    dice, log, growing = random.Random(1), [message(0)], Growing(values)
    for step in range(400):
        match dice.randrange(5):
            case 0:
                at = dice.randrange(len(log))
                log[at] = replace(log[at], created=-step)
            case 1 if len(log) > 1:
                del log[dice.randrange(len(log))]
            case 2:
                log.insert(dice.randrange(len(log)), message(step))
            case _:
                log.append(message(step))
        assert list(growing.of(log)) == [value for one in log for value in values(one)]
    assert unchanged(log, log[:3]) == identical(log, log[:3]) == 3
    assert identical(log, [log[0], replace(log[1], created=-1), log[2]]) == 1
    assert unchanged([], log) == 0

"""How often a model is tried again, and how long is waited; by a clock that only counts."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from sidecar.core.conversation.stream import AttemptFailed, StreamEvent
from sidecar.core.errors import ModelFailed, ModelFailure
from sidecar.model.retry import USUAL, Patience, with_retries


async def tried(
    patience: Patience,
    kind: ModelFailure = "overloaded",
    asked: float | None = None,
    chance: float = 0.0,
) -> tuple[list[float], list[AttemptFailed], ModelFailed]:
    """Give what was waited, and told, until it was given up; and with what."""
    slept: list[float] = []
    told: list[AttemptFailed] = []

    async def attempt() -> AsyncIterator[StreamEvent]:
        raise ModelFailed("no", kind=kind, retryable=True, retry_after=asked)
        yield

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    try:
        async for event in with_retries(attempt, patience, sleep, lambda: chance):
            assert isinstance(event, AttemptFailed)
            told.append(event)
    except ModelFailed as failed:
        return slept, told, failed
    raise AssertionError("it was not given up")


async def test_an_overload_is_waited_for_up_to_two_minutes() -> None:
    slept, told, _ = await tried(USUAL)
    assert slept == [1, 2, 4, 8, 16, 30, 30, 29]
    assert [event.delay_ms for event in told] == [round(1000 * seconds) for seconds in slept]
    assert [event.attempt for event in told] == list(range(1, 9))


async def test_waits_are_up_to_a_quarter_shorter_by_chance() -> None:
    slept, _, _ = await tried(USUAL, chance=1.0)
    assert slept[:5] == [0.75, 1.5, 3, 6, 12]
    assert sum(slept) <= 120


@pytest.mark.parametrize("kind", ["network", "interrupted"])
async def test_what_is_no_overload_is_tried_three_times(kind: ModelFailure) -> None:
    slept, told, _ = await tried(USUAL, kind)
    assert slept == [1, 2]
    assert {event.max_attempts for event in told} == {3}


async def test_what_the_provider_asks_for_is_waited_within_the_bound() -> None:
    assert (await tried(USUAL, asked=45))[0] == [45, 45]
    slept, _, failed = await tried(USUAL, asked=61)
    assert slept == []
    assert "asks to wait 61 seconds, longer than the 60" in failed.message
    assert failed.retryable


async def test_who_asks_for_no_wait_is_not_asked_for_ever_at_once() -> None:
    slept, _, _ = await tried(USUAL, asked=0)
    assert slept[:4] == [0, 0, 4, 8]


@pytest.mark.parametrize("attempts", [1, 2, 5])
async def test_no_more_attempts_than_are_set(attempts: int) -> None:
    assert len((await tried(replace(USUAL, attempts=attempts)))[0]) == attempts - 1

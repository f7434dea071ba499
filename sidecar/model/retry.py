"""Retries model calls: visible, bounded, cancellable.

The SDK's retries hide the wait, cannot repeat a broken stream, and obey a Retry-After of weeks.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing

from sidecar.config import Retry
from sidecar.core.conversation.stream import AttemptFailed, StreamEvent
from sidecar.core.dataclass import dataclass
from sidecar.core.errors import ModelFailed

FIRST = 1.0
"""Seconds before the second try; later waits double."""
LONGEST = 30.0
"""Seconds of the longest wait, unless a provider asks."""
OTHERWISE = 3
"""Failures besides overloads: a wrong address stays wrong, a broken answer costs."""


@dataclass(frozen=True, slots=True)
class Patience:
    """Number of attempts; seconds of the longest wait, and of all."""

    attempts: int
    longest: float
    total: float

    @classmethod
    def of(cls, retry: Retry) -> "Patience":
        return cls(retry.attempts, retry.cap_ms / 1000, retry.total_ms / 1000)


USUAL = Patience.of(Retry())


async def with_retries(
    attempt: Callable[[], AsyncIterator[StreamEvent]],
    patience: Patience,
    sleep: Callable[[float], Awaitable[None]],
    random: Callable[[], float],
) -> AsyncIterator[StreamEvent]:
    """A passing failure gives `AttemptFailed`, a wait, the next attempt.

    Raises ModelFailed for a permanent failure, no attempt left, or too long a wait.
    """
    number, others, left = 0, 0, patience.total
    while True:
        number += 1
        try:
            async with aclosing(attempt()) as events:  # type: ignore[type-var] # a generator
                async for event in events:
                    yield event
                return
        except ModelFailed as failed:
            overload = failed.failure in ("overloaded", "rate_limit")
            others += not overload
            most = patience.attempts
            if not overload:
                most = min(most, number + OTHERWISE - others)
            if not failed.retryable or number >= most:
                raise
            seconds = _wait(number, failed, random(), patience, left)
            left -= seconds
            yield AttemptFailed(
                number,
                most,
                round(seconds * 1000),
                failed.message,
                failed.kind,
                failed.status,
            )
            await sleep(seconds)


def _wait(
    number: int, failed: ModelFailed, chance: float, patience: Patience, left: float
) -> float:
    seconds = delay(number, failed.retry_after, chance)
    if failed.retry_after is None:
        seconds = min(seconds, patience.longest)
        if left < min(seconds, FIRST):
            raise failed
        return min(seconds, left)
    bound = min(patience.longest, left)
    if seconds <= bound:
        return seconds
    text = (
        f"{failed.message}; the provider asks to wait {seconds:.0f} seconds, "
        f"longer than the {bound:.0f} that are waited by itself"
    )
    raise ModelFailed(text, kind=failed.failure, status=failed.status, retryable=True) from failed


def delay(attempt: int, asked: float | None, chance: float) -> float:
    """Returns seconds: as the provider asked, else doubling.

    `chance` (0 to 1) takes up to a quarter off.
    """
    # A provider that asks for no wait is retried at once only a few times.
    if asked is not None and (asked >= FIRST or attempt < OTHERWISE):
        return asked
    backoff: float = min(LONGEST, FIRST * 2 ** (attempt - 1))
    return backoff * (1 - 0.25 * chance)

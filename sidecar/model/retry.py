"""Our own retry loop: visible, bounded and cancellable.

The SDK's would hide the wait, cannot retry a broken stream, and honours a Retry-After of weeks.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass

from sidecar.core.errors import ModelFailed
from sidecar.core.stream import AttemptFailed, StreamEvent

FIRST = 0.5
LONGEST = 8.0


@dataclass(frozen=True, slots=True)
class Patience:
    """How often to try in all, and the longest wait in seconds that is taken."""

    attempts: int = 3
    longest: float = 60.0


async def with_retries(
    attempt: Callable[[], AsyncIterator[StreamEvent]],
    patience: Patience,
    sleep: Callable[[float], Awaitable[None]],
    random: Callable[[], float],
) -> AsyncIterator[StreamEvent]:
    """Yield an attempt's events; after a failure that can pass, say so, wait and try again.

    Raises:
        ModelFailed: when it cannot pass, no attempt is left, or the wait would be too long.
    """
    number = 0
    while True:
        number += 1
        try:
            async with aclosing(attempt()) as events:  # type: ignore[type-var] # a generator
                async for event in events:
                    yield event
                return
        except ModelFailed as failed:
            if not failed.retryable or number >= patience.attempts:
                raise
            seconds = delay(number, failed.retry_after, random())
            if seconds > patience.longest:
                text = (
                    f"{failed.message}; the provider asks to wait {seconds:.0f} seconds, "
                    f"longer than the {patience.longest:.0f} that are waited by itself"
                )
                raise ModelFailed(
                    text, kind=failed.failure, status=failed.status, retryable=True
                ) from failed
            yield AttemptFailed(
                number,
                patience.attempts,
                round(seconds * 1000),
                failed.message,
                failed.kind,
                failed.status,
            )
            await sleep(seconds)


def delay(attempt: int, asked: float | None, chance: float) -> float:
    """Seconds before the next attempt: what the provider asked for, else longer each time.

    `chance` from 0 to 1 takes up to a quarter off, so that clients do not come back together.
    """
    if asked is not None:
        return asked
    backoff: float = min(LONGEST, FIRST * 2 ** (attempt - 1))
    return backoff * (1 - 0.25 * chance)

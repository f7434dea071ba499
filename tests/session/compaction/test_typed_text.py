"""Sessions that typed text alone fills: none sends a prompt above the limit, whatever is typed."""

import os
import random
from collections.abc import Iterator
from math import ceil

import pytest

from sidecar.core.errors import BadRequest
from sidecar.core.parts import StepFinishPart
from sidecar.session.lifecycle.session import Session
from tests.fakes.scripted_model import says
from tests.session import inside
from tests.session.conftest import Desk, World

pytestmark = pytest.mark.long

SESSIONS = int(os.environ.get("SIDECAR_TYPED_SESSIONS", "12"))
WINDOWS = (12_000, 40_000, 200_000)
RULE = "Never rename the table {n}, because reports read it."
WORDS = ("the", "log", "of", "importer", "says", "row", "came", "twice", "and", "merged", "again")


def words(dice: random.Random, tokens: int) -> str:
    """Give prose of about so many tokens, with sentence ends and lines."""
    said = []
    for number in range(max(1, tokens * 4 // 5)):
        end = ".\n" if number % 23 == 22 else "." if number % 11 == 10 else ""
        said.append(dice.choice(WORDS) + end)
    return " ".join(said)


def many_short(dice: random.Random, window: int) -> Iterator[str]:
    for number in range(60):
        yield f"{RULE.format(n=number)} {words(dice, window // 90)}"


def long_pastes(dice: random.Random, window: int) -> Iterator[str]:
    for number in range(14):
        half = words(dice, dice.randrange(window // 20, window // 8))
        yield f"{half} {RULE.format(n=number)} {half}"


def huge_single(dice: random.Random, window: int) -> Iterator[str]:
    yield "Port the parser."
    for number in range(6):
        yield words(dice, dice.randrange(window // 10, window))
        yield f"And now part {number}?"


def only_rules(dice: random.Random, window: int) -> Iterator[str]:
    for start in (0, 5_000):
        yield "\n".join(f"- {RULE.format(n=start + n)}" for n in range(window // 40))
        yield words(dice, window // 4)
        yield words(dice, window // 4)


KINDS = (many_short, long_pastes, huge_single, only_rules)


def sizes_sent(session: Session) -> list[int]:
    """Give what the provider counted of each prompt."""
    parts = [part for message in inside.conversation(session) for part in message.parts]
    return [part.usage.prompt for part in parts if isinstance(part, StepFinishPart)]


@pytest.mark.parametrize("window", WINDOWS)
async def test_no_session_of_typed_text_sends_what_does_not_fit(world: World, window: int) -> None:
    for seed in range(ceil(SESSIONS / len(WINDOWS))):
        # A daemon each: what tests keep of all requests would fill the memory.
        async with world.daemon() as desk:
            await filled(desk, window, seed)


@pytest.mark.parametrize("seed", [3, 9, 37, 54, 202])
async def test_what_once_was_too_long_or_refused_for_no_reason(desk: Desk, seed: int) -> None:
    """Sessions of a small window in which estimates were a little too low, or little came free."""
    await filled(desk, WINDOWS[0], seed)


async def filled(desk: Desk, window: int, seed: int) -> None:
    """Type all of a session's messages, and compact what is left by hand."""
    dice = random.Random(f"{window} {seed}")
    worker = await desk.worker(policy="economic", window=window, max_tokens=4_000)
    session, kind = worker.session, KINDS[seed % len(KINDS)]
    where = f"{kind.__name__}, window {window}, seed {seed}"
    for text in kind(dice, window):
        await typed(desk, session, text, where)
    assert max(sizes_sent(session)) <= window - 4_000, where


async def typed(desk: Desk, session: Session, text: str, where: str) -> None:
    """Send a prompt; what is not sent says why, and what a rewrite leaves is small."""
    made, asked = len(inside.rewrites(session)), len(desk.model.requests)
    desk.script(says("Done."))
    try:
        result = await desk.ask(session, text)
    except BadRequest:  # the message alone is more than the window holds
        desk.model.responses.clear()
        return
    meter = session.meter()
    limit = meter.window - meter.reserved_output
    static = sum(meter.regions[region] for region in ("system", "tools"))
    newest = round(inside.model_view(session).calibration.factor * len(text) / 4)
    if len(desk.model.requests) == asked:
        assert result.error is not None, where
        assert "too much, for what must stay" in str(result.error["message"]), where
        # What must stay is this message; the goal and a note take little beside it.
        assert static + newest > 0.9 * limit, (where, result.error)
        assert len(inside.rewrites(session)) == made, where
        desk.model.responses.clear()
    # What was typed just now was not answered yet: it stays whole.
    most = max(0.6 * limit, static + newest + 0.25 * limit)
    for recorded in inside.rewrites(session)[made:]:
        assert not recorded.opens or recorded.tokens_after <= most, (where, recorded)

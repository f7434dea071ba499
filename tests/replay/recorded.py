"""Sessions that were recorded with other agents, where they lie beside this checkout."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from sidecar.core.parts import Message
from sidecar.core.plans.plan import Plan, Policy, Situation, Standing
from sidecar.core.prompt.prompt import Ttl
from sidecar.core.prompt.visibility import Cause
from sidecar.model.vocabulary import load_counter
from sidecar.replay.conversation import Conversation, listen
from sidecar.replay.importers.recognition import open_transcript
from sidecar.replay.prices import read_card
from sidecar.replay.transcript import Compacted, DamagedLine

SESSIONS = Path(__file__).parents[2].parent / "shared" / "sessions"
CARD = read_card("classic")
AT_HAND = pytest.mark.skipif(
    not SESSIONS.is_dir(), reason="no recorded sessions are at hand in ../shared/sessions"
)


@cache
def tokenizer() -> Callable[[str], int]:
    """Give what counts tokens in the daemon too; to load it takes a while."""
    return load_counter()


def messages_of(path: Path) -> tuple[Message | None, ...]:
    """What was said in a recording; `None` stands where its agent left out what was before."""
    heard = [one for one in open_transcript(path).entries if not isinstance(one, DamagedLine)]
    return tuple(None if isinstance(one, Compacted) else one for one in heard)


def overheard(
    messages: Iterable[Message | None],
    name: str,
    kind: str = "neutral",
    count: Callable[[str], int] | None = None,
) -> Conversation:
    """What a replay makes of messages; `count` tells how many tokens a text has."""
    return listen(messages, tokenizer() if count is None else count, name, kind)


@cache
def recorded(prefix: str) -> tuple[Message | None, ...]:
    """The messages of the only recording whose name begins so."""
    [path] = (SESSIONS / "normalised").glob(f"{prefix}*")
    return messages_of(path)


@cache
def conversation(prefix: str) -> Conversation:
    return overheard(recorded(prefix), prefix)


@dataclass(frozen=True)
class Watched:
    """A policy whose every plan is looked at."""

    inner: Policy
    look: Callable[[Plan, Situation], None]

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def static_ttl(self) -> Ttl:
        return self.inner.static_ttl

    def due(self, standing: Standing) -> Cause | None:
        return self.inner.due(standing)

    def plan(self, situation: Situation, cause: Cause) -> Plan | None:
        plan = self.inner.plan(situation, cause)
        if plan is not None:
            self.look(plan, situation)
        return plan

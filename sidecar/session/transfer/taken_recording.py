"""Another agent's recording, as an import takes and tells of one."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Protocol

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Message
from sidecar.core.prompt.pricing import total
from sidecar.replay.bill import BilledRequest
from sidecar.session.turn.model_access import ModelAccess

RECORDED = "recorded"
RECORDING = ("turns", "ended", "cost", "by")
"""In the settings of an import: turns, end, USD (if known) and agent of the recording."""


@dataclass(frozen=True, slots=True)
class Recording:
    """Another agent's recording as messages; `skipped` names unreadable lines.

    `bill`: the requests that were paid for then, subagents' too. `dropped`: of other things that
    are left out, how many.
    """

    format: str
    title: str
    messages: tuple[Message, ...]
    skipped: tuple[str, ...]
    bill: tuple[BilledRequest, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)


class ReadRecording(Protocol):
    """Reads a recording, as `session/transfer/foreign_import` does."""

    def __call__(
        self,
        source: Path | bytes,
        format_name: str,
        name: str,
        now: int,
        check: Callable[[], None],
    ) -> Recording:
        """Ids begin with `name`, times end at `now`; `check` raises once cancelled."""
        ...


def paid_then(recording: Recording, models: ModelAccess) -> str | None:
    """USD, by the agent's own words or else at list prices; `None` if a price is unknown."""
    costs = [
        models.cost(one.model, one.usage) if one.cost is None else str(one.cost)
        for one in recording.bill
    ]
    return total(costs) if costs else None


def left_out(recording: Recording, model: object) -> Iterator[str]:
    """Says what an import leaves out; `model`: the configured one."""
    if recording.skipped:
        yield (
            f"{len(recording.skipped)} lines could not be read and are left out; the first: "
            f"{recording.skipped[0]}."
        )
    models = list(dict.fromkeys(m.model for m in recording.messages if m.model))
    if models:
        yield (
            f"It was recorded with {', '.join(models[:3])}{', …' * (len(models) > 3)}, and is "
            f"bound to no model: until its first prompt here the configured one is its own, now "
            f"{model}."
        )
    if aside := sum(one.aside for one in recording.bill):
        yield f"What subagents said in {aside} requests is left out, but for what they answered."
    for what, number in recording.dropped.items():
        yield f"{what}: {number}."

"""Everything the daemon says fits the protocol's own types."""

import msgspec
import pytest

from sidecar.core.parts import MessageId, PartId, SessionId, TurnId, Usage
from sidecar.core.prompt.meter import CacheState, Costs, Size, measure
from sidecar.session.interface import Opened, PromptResult, SessionSummary
from sidecar.session.log import events as e
from sidecar.wire import messages as m
from sidecar.wire.translate import loaded, meter, notification, opened, prompt_result, summary
from tests.core.prompts import room

SES = SessionId("ses_1")
ORIGIN = e.EventOrigin(SES, TurnId("turn_1"), MessageId("msg_1"), PartId("part_1"), 5)
METER = measure(
    session_id=SES,
    revision=3,
    room=room(200_000, 32_000),
    compact_at=160_000,
    burn_rate="1.25",
    size=Size(100, {"system": 1}, "exact", "as reported"),
    turn_sizes=[100],
    cache=CacheState(warm=True, expires_at=1_700_000_000_000, hit_rate=0.5),
    cost=Costs("0.1", None, "0.2", None),
)
OPTION = {
    "id": "model", "name": "Model", "category": "model", "type": "select",
    "currentValue": "offline", "options": [{"value": "offline", "name": "offline"}],
}  # fmt: skip
EVENTS = [
    e.TextChunk(ORIGIN, "user", "hi"),
    e.TextChunk(ORIGIN, "agent", "hi"),
    e.TextChunk(ORIGIN, "thought", "hi"),
    e.ContentChunk(ORIGIN, "user", {"type": "resource_link", "uri": "file:///x", "name": "x"}),
    e.ToolChanged(ORIGIN, "c", "pending", first=True, title="shell", kind="execute"),
    e.ToolChanged(ORIGIN, "c", "completed", output="x", has_input=True, raw_input={"_x": None},
                  metadata={"exitCode": 0}, paths=("/x",)),
    e.ToolInputChunk(ORIGIN, "c", '{"a'),
    e.ToolOutputChunk(ORIGIN, "c", "line"),
    e.PlanChanged(ORIGIN, (("one", "pending"),)),
    e.Notice(SES, 6, "info", "hello"),
    e.EpochChanged(SES, 7, "cmp_1", "completed", "model", 10, 9, None),
    e.TurnEnded(SES, 8, TurnId("turn_1"), MessageId("msg_1"), "error", Usage(input=3, requests=1),
                "0.01", {"kind": "network", "message": "gone", "retryable": True}),
    e.TitleChanged(SES, 8, "title"),
    e.OptionsChanged(SES, 9, (OPTION,)),
    e.MeterChanged(SES, METER),
    e.SessionChanged(SES, 4, "step"),
    e.Retrying(SES, 1, 3, 500, "busy", "overloaded", 529, (PartId("part_1"),)),
    e.StatusChanged(True, "working"),
    e.AlertChanged("raised", "hit_rate", "warning", None, "low", "look", 0.4, 0.7, 1),
    e.AlertChanged("cleared", "fidelity", "warning", SES, "low", "pin", 0.8, 0.75, 1),
    e.Progressed(SES, "work 1", "report", "half of it", 50),
]  # fmt: skip


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_a_notification_has_the_shape_of_the_protocol(event: e.Event) -> None:
    told = notification(event)
    if isinstance(event, e.Progressed):
        # LSP's own: {token, value}.
        assert told["method"] == "$/progress"
        return
    method = m.METHODS[str(told["method"])]
    assert (method.direction, method.available) == ("daemonToClient", True)
    assert method.params is not None
    fits(told["params"], method.params)


def test_every_event_is_tested() -> None:
    kinds = set(e.Event.__args__)
    assert {type(event) for event in EVENTS} == kinds


def test_a_result_has_the_shape_of_the_protocol() -> None:
    session = Opened(SES, 3, False, (OPTION,))
    fits(opened(session), m.SessionNewResult)
    fits(loaded(session), m.SessionLoadResult)
    fits(meter(METER), m.Meter)
    line = SessionSummary(SES, "t", "/x", 1_700_000_000_000, 2, None)
    fits({"sessions": [summary(line)]}, m.SessionListResult)
    result = PromptResult(
        "error", TurnId("t"), MessageId("m"), 4, Usage(1, 2, 3, 4, 5, 6, 7), "0.1", METER,
        {"kind": "network", "message": "x", "retryable": True},
    )  # fmt: skip
    fits(prompt_result(result), m.SessionPromptResult)
    told = prompt_result(result)["usage"]
    assert told == {
        "inputTokens": 1, "outputTokens": 5, "cachedReadTokens": 2, "cachedWriteTokens": 7,
        "thoughtTokens": 6, "totalTokens": 15, "requests": 7,
    }  # fmt: skip


def fits(told: object, shape: type) -> None:
    """Strictly, and saying the same when it is written again: no field is missing or unknown."""
    read = msgspec.convert(told, type=shape, strict=True)
    assert msgspec.to_builtins(read) == told

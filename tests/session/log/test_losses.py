"""What a conversation with a gap may not say any more."""

from sidecar.core.parts import (
    Message,
    MessageId,
    PartId,
    ReasoningPart,
    TextPart,
    ToolPart,
    ToolRunning,
    TurnId,
)
from sidecar.session.log.losses import unsigned


def test_no_signature_outlives_the_text_that_it_was_made_for() -> None:
    parts = (
        ReasoningPart(PartId("r"), "hm", {"signature": "a"}),
        TextPart(PartId("t"), "so", "model", {"signatures": [[0, 2, "b"]]}),
        ToolPart(PartId("c"), "c1", "look", {}, ToolRunning(0), {"signature": "c"}),
    )
    message = Message(MessageId("m"), TurnId("t"), "assistant", parts, 0)
    assert unsigned(message).parts == (
        ReasoningPart(PartId("r"), "hm"),
        TextPart(PartId("t"), "so", "model"),
        ToolPart(PartId("c"), "c1", "look", {}, ToolRunning(0)),
    )

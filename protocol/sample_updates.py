"""One message of each kind of `session/update`, for golden files."""

from typing import Any

from protocol.samples import ODD_INPUT, OPTIONS, TEXT, USAGE
from protocol.source import updates


def _origin(seq: int) -> dict[str, Any]:
    return {
        "sidecar": {"partId": "part_07", "messageId": "msg_05", "turnId": "turn_03", "seq": seq}
    }


UPDATES: tuple[updates.SessionUpdate, ...] = (
    updates.UserMessageChunk(content=TEXT, meta=_origin(1)),
    updates.AgentMessageChunk(content={"type": "text", "text": "Because"}, meta=_origin(2)),
    updates.AgentThoughtChunk(content={"type": "text", "text": "Hm."}, meta=_origin(3)),
    updates.ToolCallStarted(
        tool_call_id="toolu_01",
        title="lookup",
        kind="read",
        status="pending",
        content=[],
        locations=[updates.ToolCallLocation(path="/home/ada/engine/src/a b.py", line=3)],
        raw_input=ODD_INPUT,
        meta=_origin(4),
    ),
    updates.ToolCallChanged(
        tool_call_id="toolu_01",
        status="completed",
        content=[{"type": "content", "content": {"type": "text", "text": "src/a b.py:3"}}],
        raw_output=None,
        meta=_origin(5),
    ),
    updates.PlanChanged(
        entries=[updates.PlanEntry(content="Fix it", priority="medium", status="in_progress")],
        meta=_origin(6),
    ),
    updates.UsageChanged(
        used=20500, size=168000, cost=updates.UsageCost(amount=0.0431, currency="USD")
    ),
    updates.SessionInfoChanged(title="Red test", updated_at="2026-01-05T10:00:00Z"),
    updates.AvailableCommandsChanged(
        available_commands=[
            updates.AvailableCommand(
                name="compact", description="Make room", input={"hint": "what to keep"}
            )
        ]
    ),
    updates.ConfigOptionsChanged(config_options=OPTIONS),
    updates.TurnEnded(
        turn_id="turn_03",
        message_id="msg_05",
        stop_reason="end_turn",
        usage=USAGE,
        cost="0.0431",
        meta={"sidecar": {"messageId": "msg_05", "turnId": "turn_03", "seq": 7}},
    ),
    updates.CompactionChanged(
        compaction_id="cmp_01",
        status="completed",
        cause="user",
        tokens_before=142000,
        tokens_after=31000,
        price="0.0210",
        summary_part_id="part_10",
        meta=_origin(8),
    ),
    updates.Notice(level="warning", message="The disk is nearly full; free some space."),
)

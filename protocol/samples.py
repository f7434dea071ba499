"""One true-to-life value of every message that is built, for the golden files."""

from typing import Any

import msgspec

from protocol import sample_moves, sample_news
from protocol.source import client, context, daemon, history, meter, session

SESSION, PARENT = "ses_01k9f3", "ses_01k9c7"
ODD_INPUT: dict[str, Any] = {
    "file-path": "src/a b.py",
    "class": 2,
    "_x": None,
    "jsonrpc": "2.0",
    "type_name": [{"jsonrpc": 1, "id": None}],
    "nested": {"méthode": {"params": [True, -0.5, "\u2028", ""]}},
    "": "empty key",
}
"""Keys that a JSON-RPC library might rename, drop or take for its own."""

METER = meter.Meter(
    session_id=SESSION,
    revision=12,
    window=200000,
    used=20500,
    reserved_output=32000,
    free=147500,
    compact_at=142800,
    percent=12.2,
    zone="green",
    accuracy="exact",
    reason="reported by the provider for the last request",
    velocity=1800,
    spike=False,
    burn_rate="1.25",
    over_soft_limit=[],
    turns_until_compaction=67,
    regions=meter.Regions(
        system=2500,
        tools=3000,
        instructions=500,
        learned=0,
        summary=0,
        ledger=0,
        user=1500,
        assistant=4000,
        reasoning=1000,
        tool_results=7800,
        context=200,
    ),
    tools_by_server={"notes": 400},
    cache=meter.CacheState(
        warm=True,
        hit_rate=0.93,
        expires_at="2026-01-05T10:05:00Z",
        last_break=meter.CacheBreak(segment="tools", reason="a tool was added"),
    ),
    cost=meter.Costs(session="0.0431", last_turn="0.0102", next_request="0.0095", compact_now=None),
)
OPTIONS = [
    session.ConfigOption(
        id="model",
        name="Model",
        category="model",
        type="select",
        current_value="claude-sonnet-4-5",
        options=[session.ConfigOptionValue(value="claude-sonnet-4-5", name="claude-sonnet-4-5")],
    )
]
TEXT: dict[str, Any] = {"type": "text", "text": "Why is the test red?"}
IMAGE: dict[str, Any] = {"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="}
USAGE = session.Usage(
    input_tokens=1200,
    output_tokens=340,
    cached_read_tokens=19000,
    cached_write_tokens=800,
    thought_tokens=90,
    total_tokens=21340,
    requests=2,
)
FAILURE = session.TurnError(
    code=-32020,
    kind="overloaded",
    message="The provider is overloaded; try again in a minute.",
    retryable=True,
    status=529,
)
MOVED = history.FileChange(
    path="src/a b.py",
    change="renamed",
    author="tool",
    additions=1,
    deletions=1,
    size=1_204,
    size_before=1_203,
    renamed_from="src/a.py",
)
NOTED = history.FileChange(
    path="n",
    change="created",
    author="user",
    additions=2,
    deletions=0,
    size=9,
    size_before=0,
    restorable=False,
)
RESTORED = history.RestoredFiles(
    restored=[history.RestoredFile(path="a b.py", reason="Gone.", diff="@@ -1 +0,0 @@\n-é\n")],
    merged=[],
    skipped=[],
    conflicts=[
        history.RestoredFile(
            path="notes.md",
            reason="The agent changed it, and you or another program changed it since.",
            agent_diff="--- a/notes.md\n+++ b/notes.md\n@@ -1 +1 @@\n-é\n+e\n",
            user_diff="--- a/notes.md\n+++ b/notes.md\n@@ -1 +1 @@\n-e\n+E\n",
        )
    ],
)
SKIPPED = history.RestoredFiles(
    restored=[],
    merged=[],
    skipped=[history.RestoredFile(path="notes.md", reason="Kept as you changed it.")],
    conflicts=[],
)
DEFINITION = session.ToolDefinition(
    name="lookup",
    description="Looks a symbol up in the editor's index.",
    input_schema={"type": "object", "properties": {"file-path": {"type": "string"}}},
    kind="read",
    read_only=True,
    output_limit=20000,
    protected_from_pruning=False,
)

PARAMS: dict[str, msgspec.Struct] = {
    "session/new": session.SessionNewParams(
        cwd="/home/ada/engine",
        title="Red test",
        model="claude-sonnet-4-5",
        window=200000,
        max_tokens=32000,
        tools=[DEFINITION],
        builtin_tools=True,
        from_session=PARENT,
    ),
    "session/list": session.SessionListParams(cwd="/home/ada/engine", limit=20),
    "session/load": session.SessionLoadParams(session_id=SESSION, replay=True, after="part_01"),
    "session/close": session.SessionCloseParams(session_id=SESSION),
    "session/delete": session.SessionDeleteParams(session_id=SESSION),
    "session/set_config_option": session.SessionSetConfigOptionParams(
        session_id=SESSION, config_id="autoCompact", value=False, expected_revision=12
    ),
    "session/prompt": session.SessionPromptParams(
        session_id=SESSION,
        prompt=[TEXT, IMAGE],
        context={"openFiles": ["src/a b.py"], "selection": {"start_line": 3, "end-line": 4}},
        steer=False,
        expected_revision=12,
    ),
    "session/cancel": session.SessionCancelParams(session_id=SESSION),
    "session/findFiles": session.SessionFindFilesParams(session_id=SESSION, query="sesm", limit=20),
    "context/meter": meter.ContextMeterParams(session_id=SESSION),
    "context/recall": context.ContextRecallParams(
        session_id=SESSION, part_id="part_07", offset=0, limit=4096, pattern="^E "
    ),
    "context/breakdown": context.ContextBreakdownParams(session_id=SESSION),
    "context/preview": context.ContextPreviewParams(
        session_id=SESSION, prompt=[{"type": "text", "text": "and now the tests"}]
    ),
    "context/compact": context.ContextCompactParams(
        session_id=SESSION,
        strategy="economic",
        keep=["part_03"],
        dry_run=True,
        expected_revision=12,
    ),
    "context/undoCompaction": context.ContextUndoCompactionParams(
        session_id=SESSION, compaction_id="cmp_01"
    ),
    "context/pin": context.ContextPinParams(session_id=SESSION, part_id="part_07", pinned=True),
    "daemon/status": daemon.DaemonStatusParams(),
    "context/meterChanged": METER,
    "session/changed": daemon.SessionChangedParams(
        session_id=SESSION, revision=13, cause="turn_ended"
    ),
    "tool/call": client.ToolCallParams(
        session_id=SESSION, call_id="toolu_01", name="lookup", input=ODD_INPUT
    ),
    "fs/read_text_file": client.FsReadTextFileParams(
        session_id=SESSION, path="/home/ada/engine/src/a b.py"
    ),
    "fs/write_text_file": client.FsWriteTextFileParams(
        session_id=SESSION, path="/home/ada/engine/src/a b.py", content="é = 1\n"
    ),
    **sample_moves.PARAMS,
    **sample_news.PARAMS,
    "checkpoint/list": history.CheckpointListParams(session_id=SESSION),
    "checkpoint/diff": history.CheckpointDiffParams(
        session_id=SESSION, from_checkpoint="cp_msg_05", to="cp_msg_09", path="src/a b.py"
    ),
    "checkpoint/restore": history.CheckpointRestoreParams(
        session_id=SESSION,
        scope="both",
        before_message_id="msg_05",
        on_conflict="merge",
        markers=True,
        paths=["src/a b.py"],
        hunks=["@@ -1 +1 @@\n-é\n+e\n"],
        dry_run=True,
        expected_revision=12,
    ),
    "checkpoint/redo": history.CheckpointRedoParams(
        session_id=SESSION, checkpoint_id="cp_01k9h2", on_conflict="keep", dry_run=True
    ),
    "facts/list": history.FactsListParams(
        session_id=SESSION, cwd="/home/ada/app", kind="decision", query="migrations pos"
    ),
}
"""By method; `session/update` has its own, one for each kind."""

RESULTS: dict[str, msgspec.Struct] = {
    "session/new": session.SessionNewResult(session_id=SESSION, revision=1, config_options=OPTIONS),
    "session/list": session.SessionListResult(
        sessions=[sample_moves.LISTED], next_cursor="eyJhIjoxfQ"
    ),
    "session/load": session.SessionLoadResult(
        session_id=SESSION, revision=12, read_only=False, config_options=OPTIONS
    ),
    "session/close": session.Empty(),
    "session/delete": session.SessionDeleteResult(
        notes=[
            "A damaged store put aside on 2026-07-14 may still hold it: delete "
            "/home/é/.local/share/sidecar/damaged/1784030000000."
        ]
    ),
    "session/set_config_option": session.SessionSetConfigOptionResult(config_options=OPTIONS),
    "session/prompt": session.SessionPromptResult(
        stop_reason="error",
        turn_id="turn_03",
        message_id="msg_05",
        revision=13,
        usage=USAGE,
        cost="0.0102",
        meter=METER,
        error=FAILURE,
    ),
    "session/findFiles": session.SessionFindFilesResult(
        files=["src/session methods.py", "src/session_map.py"], partial=False
    ),
    "context/meter": METER,
    "context/recall": context.ContextRecallResult(
        content="E assert 1 == 2\n", total_bytes=90210, next_offset=4096
    ),
    "context/breakdown": context.ContextBreakdownResult(
        meter=METER,
        segments=[
            context.ContextSegment(
                id="part_07:1",
                region="toolResults",
                label="E assert 1 == 2",
                tokens=METER.used,
                accuracy="estimated",
                presentation="excerpt",
                cached=True,
                pinned=False,
                reason="at 71% of the window",
                turn_id="turn_01",
                part_id="part_07",
            )
        ],
    ),
    "context/preview": context.ContextPreviewResult(
        request={"model": "claude-sonnet-4-5", "max_tokens": 32000, "messages": []},
        tokens=41200,
        predicted_cache_read=40100,
        predicted_cache_write=1100,
        price="0.016155",
        breakpoints=[{"message": 3, "block": 0, "ttl": "5m"}],
    ),
    "context/compact": context.ContextCompactResult(
        compaction_id="cmp_01",
        plan=[
            context.CompactionStep(
                part_id="part_07",
                action="drop",
                reason="not worth its tokens",
                tokens_before=5200,
                tokens_after=0,
            )
        ],
        tokens_before=82000,
        tokens_after=31000,
        price="0.0621",
        break_even_requests=5,
        summary="[Earlier parts of this conversation were left out here.]",
        asked=["extension claude-sonnet-4-5"],
    ),
    "context/undoCompaction": context.ContextUndoCompactionResult(revision=14, meter=METER),
    "context/pin": context.ContextPinResult(revision=13),
    "daemon/status": daemon.DaemonStatusResult(
        version="0.1.0",
        pid=4711,
        uptime_ms=61000,
        sessions=[daemon.OpenSession(session_id=SESSION, revision=12, busy=False)],
        store={"path": "/home/ada/.local/share/sidecar", "sizeBytes": 1048576},
        watcher=None,
        model={"id": "claude-sonnet-4-5"},
        mcp=[],
        metrics={},
        alerts=[],
    ),
    "session/request_permission": client.SessionRequestPermissionResult(
        outcome=client.PermissionSelected(option_id="once")
    ),
    "tool/call": client.ToolCallResult(
        content=[{"type": "text", "text": "src/a b.py:3"}],
        is_error=False,
        title="lookup",
        metadata={"exitCode": 0, "_x": None, "echo": ODD_INPUT},
        attachments=[IMAGE],
    ),
    "fs/read_text_file": client.FsReadTextFileResult(content="é = 2\n"),
    "fs/write_text_file": session.Empty(),
    **sample_moves.RESULTS,
    "checkpoint/list": history.CheckpointListResult(
        checkpoints=[
            history.Checkpoint(
                checkpoint_id="cp_msg_05",
                turn_id="turn_03",
                message_id="msg_05",
                at="2026-01-05T10:00:00Z",
                title="Move the parser",
                files=[NOTED],
            ),
            history.Checkpoint(
                checkpoint_id="cp_msg_06",
                turn_id="turn_03",
                message_id="msg_06",
                at="2026-01-05T10:00:07Z",
                title="Changed src/a b.py",
                files=[MOVED],
                left=False,
            ),
        ],
        head="cp_msg_06",
        changes=history.SessionChanges(files=[MOVED], additions=1, deletions=1),
    ),
    "checkpoint/diff": history.CheckpointDiffResult(
        files=[
            history.FileDiff(
                path="src/a b.py",
                change="renamed",
                author="several",
                authors=["user", "tool"],
                diff="--- a/src/a.py\n+++ b/src/a b.py\n@@ -1 +1 @@\n-é = 1\n+é = 2\n",
                additions=1,
                deletions=1,
                renamed_from="src/a.py",
            )
        ]
    ),
    "checkpoint/restore": history.CheckpointRestoreResult(
        undo_checkpoint_id="cp_01k9h2",
        revision=14,
        files=RESTORED,
        restored_prompt="Move the parser",
    ),
    "checkpoint/redo": history.CheckpointRestoreResult(
        undo_checkpoint_id="",
        revision=16,
        files=SKIPPED,
        reason="there is nothing to do. notes.md: Kept as you changed it.",
    ),
    "facts/list": history.FactsListResult(
        facts=[
            history.Fact(
                fact_id="fact_5d41402abc4b",
                kind="decision",
                content="Migrations run on Postgres 16, never on SQLite.",
                source=history.FactSource(
                    session_id=SESSION, turn_id="turn_01k9f4", said_by="user"
                ),
                at="2026-01-05T10:00:00Z",
                learned=True,
            )
        ]
    ),
}
"""By method."""

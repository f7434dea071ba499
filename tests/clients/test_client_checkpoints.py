"""The Python client's methods for going back, against a process that keeps what it is sent."""

import asyncio
import sys
from pathlib import Path

import sidecar_client
from sidecar_client import messages

COMMAND = (sys.executable, str(Path(__file__).with_name("fake_daemon.py")))
LIMIT = 20.0


async def test_what_is_listed_and_shown_is_sent_and_read_as_the_protocol_says() -> None:
    async with asyncio.timeout(LIMIT), sidecar_client.connect(COMMAND) as client:
        listed = await client.checkpoint.list("s")
        shown = await client.checkpoint.diff("s", "cp_1", path="a.py")
        await client.checkpoint.diff("s", "cp_1", "cp_2")
        everything = await client.request("fake/received")
    assert listed.head == listed.checkpoints[-1].checkpoint_id
    assert isinstance(listed.changes, messages.SessionChanges)
    assert shown.files[0].diff
    sent = [m["params"] for m in everything if m["method"].startswith("checkpoint/")]
    assert sent == [
        {"sessionId": "s"},
        {"sessionId": "s", "from": "cp_1", "path": "a.py"},
        {"sessionId": "s", "from": "cp_1", "to": "cp_2"},
    ]


async def test_going_back_and_forth_is_sent_and_read_as_the_protocol_says() -> None:
    async with asyncio.timeout(LIMIT), sidecar_client.connect(COMMAND) as client:
        told = await client.checkpoint.restore(
            "s", before_message_id="m", paths=["a.py"], hunks=["@@ -1 +1 @@\n-a\n+b\n"]
        )
        await client.checkpoint.restore(
            "s", checkpoint_id="cp_1", scope="files", on_conflict="merge", dry_run=True
        )
        again = await client.checkpoint.redo("s")
        await client.checkpoint.redo(
            "s", "cp_2", on_conflict="keep", dry_run=True, expected_revision=3
        )
        everything = await client.request("fake/received")
    assert told.undo_checkpoint_id
    assert told.files.restored[0].reason
    assert again.revision
    assert isinstance(again.reason, str)
    assert [file.path for file in again.files.skipped] == ["notes.md"]
    sent = [m["params"] for m in everything if m["method"].startswith("checkpoint/")]
    assert sent == [
        {
            "sessionId": "s",
            "scope": "both",
            "beforeMessageId": "m",
            "paths": ["a.py"],
            "hunks": ["@@ -1 +1 @@\n-a\n+b\n"],
        },
        {
            "sessionId": "s",
            "scope": "files",
            "checkpointId": "cp_1",
            "onConflict": "merge",
            "dryRun": True,
        },
        {"sessionId": "s"},
        {
            "sessionId": "s",
            "checkpointId": "cp_2",
            "onConflict": "keep",
            "dryRun": True,
            "expectedRevision": 3,
        },
    ]

"""The Python client's methods for stored sessions, against a process that keeps what it is sent."""

import asyncio
import sys
from pathlib import Path

import sidecar_client

COMMAND = (sys.executable, str(Path(__file__).with_name("fake_daemon.py")))
LIMIT = 20.0


async def test_search_and_rename_are_sent_and_read_as_the_protocol_says() -> None:
    async with asyncio.timeout(LIMIT), sidecar_client.connect(COMMAND) as client:
        found = await client.session.search("exit code", cwd="/w", cursor="1.ses_1", limit=3)
        await client.session.search("exit code")
        renamed = await client.session.rename("s", "Another")
        everything = await client.request("fake/received")
    (one,) = found.sessions
    assert (one.session.title, one.more, one.hits[1].part_id) == ("Red test", True, "part_07")
    assert renamed.title == "The parser's tests"
    sent = [m["params"] for m in everything if m["method"].startswith("session/")]
    assert sent == [
        {"query": "exit code", "cwd": "/w", "cursor": "1.ses_1", "limit": 3},
        {"query": "exit code"},
        {"sessionId": "s", "title": "Another"},
    ]

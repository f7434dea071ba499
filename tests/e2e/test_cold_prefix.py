"""Two sessions in one workspace, with the real SDK: what they share is written once."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tests.e2e.plain import PlainClient
from tests.fakes.messages_api import FakeMessagesApi, Reply, text
from tests.fakes.validation import Body

SLOW = 1.0
"""Seconds in which a second request would come if it did not wait for the first one's answer."""


def test_the_second_session_waits_and_reads_what_the_first_wrote(
    start: Callable[..., PlainClient], workspace: Path
) -> None:
    early: list[int] = []

    def respond(body: Body, number: int) -> Reply:
        if number == 1:
            with suppress(AssertionError):
                api.wait_for(2, SLOW)
            early.append(len(api.requests) - 1)
        return text("as you wish")

    with FakeMessagesApi(respond) as api:
        client = start()
        provider = {"name": "anthropic", "baseUrl": api.url, "apiKey": "sk-ant-test"}
        client.start(model="claude-sonnet-4-6", provider=provider)
        sessions = [open_session(client, workspace) for _ in range(2)]
        first = prompt(client, sessions[0])
        api.wait_for(1)
        second = prompt(client, sessions[1])
        wrote, read = client.result(first)["usage"], client.result(second)["usage"]
    assert early == [0]
    assert wrote["cachedReadTokens"] == 0
    assert read["cachedReadTokens"] > 1_000
    assert read["cachedWriteTokens"] < wrote["cachedWriteTokens"] / 2


def open_session(client: PlainClient, workspace: Path) -> str:
    return str(client.request("session/new", {"cwd": str(workspace)})["sessionId"])


def prompt(client: PlainClient, session: str) -> int:
    words = [{"type": "text", "text": "hello"}]
    return client.send("session/prompt", {"sessionId": session, "prompt": words})

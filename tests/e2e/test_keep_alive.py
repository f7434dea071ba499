"""The daemon keeps the cache alive while its user pauses, with the real SDK; the clock is moved."""

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.plain import PlainClient
from tests.fakes.messages_api import FakeMessagesApi
from tests.fakes.validation import first_difference

pytestmark = pytest.mark.long


def test_a_ping_follows_when_the_cache_is_about_to_die(
    start: Callable[..., PlainClient], workspace: Path, tmp_path: Path
) -> None:
    offset = tmp_path / "offset"
    offset.write_text("0")
    with FakeMessagesApi() as api:
        client = start(env={"SIDECAR_CLOCK_OFFSET_FILE": str(offset)})
        provider = {"name": "anthropic", "baseUrl": api.url, "apiKey": "sk-ant-test"}
        client.start(model="claude-sonnet-4-6", provider=provider, keepAlive=True)
        session = client.request("session/new", {"cwd": str(workspace)})["sessionId"]
        words = [{"type": "text", "text": "hello " * 2_000}]
        asked = {"sessionId": session, "prompt": words}
        before = Decimal(client.request("session/prompt", asked)["cost"])
        offset.write_text("282")
        api.wait_for(2)
        shown = client.wait_for(lambda told: Decimal(cost(told)) > before)
        assert shown["params"]["sessionId"] == session
        turn, ping = (recorded.body for recorded in api.requests)
        assert first_difference(turn, ping) is None
        assert ping["max_tokens"] == 0
        assert "stream" not in ping
        assert api.refused == []


def cost(told: dict[str, Any]) -> str:
    """Give the session's cost if this is a meter, else nothing."""
    if told["method"] != "context/meterChanged":
        return "0"
    return str(told["params"]["cost"]["session"])

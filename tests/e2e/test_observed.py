"""Metrics and alerts of a real daemon, read and received as a user would."""

import threading
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.desk import LOOK
from tests.e2e.plain import LIMIT, PlainClient, say

pytestmark = pytest.mark.long

Start = Callable[..., PlainClient]
WAITING = 'sidecar_queue_depth{sidecar_queue="prompts"}'


def opened(client: PlainClient, workspace: Path, **config: Any) -> str:
    client.start(config=config)
    return str(client.request("session/new", {"cwd": str(workspace)})["sessionId"])


def scrape(address: str) -> dict[str, float]:
    """Give each series by its name and labels, and the sum of all series of a name."""
    found: dict[str, float] = {}
    with urllib.request.urlopen(address, timeout=LIMIT) as answer:
        for line in answer.read().decode().splitlines():
            if not line.startswith("#"):
                series, _, value = line.rpartition(" ")
                for name in {series, series.partition("{")[0]}:
                    found[name] = found.get(name, 0.0) + float(value)
    return found


def test_metrics_of_a_turn_can_be_scraped(start: Start, workspace: Path) -> None:
    client = start()
    session = opened(client, workspace, telemetry={"exporter": "prometheus", "port": 0})
    say(client, session, "read notes.txt and main.py")
    metrics = client.request("daemon/status")["metrics"]
    found = scrape(metrics["prometheus"])
    assert found["gen_ai_client_inference_usage_input_tokens_total"] == metrics["inputTokens"] > 0
    assert found["gen_ai_client_inference_usage_output_tokens_total"] == metrics["outputTokens"]
    assert found["gen_ai_client_operation_duration_seconds_count"] == metrics["requests"] == 2
    assert found["gen_ai_execute_tool_duration_seconds_count"] == metrics["toolCalls"] == 2
    assert found["gen_ai_invoke_agent_duration_seconds_count"] == metrics["turns"] == 1
    assert found["sidecar_snapshot_duration_seconds_count"] == metrics["snapshots"] > 0
    meter = client.request("context/meter", {"sessionId": session})
    assert found["sidecar_context_used"] == meter["used"]
    assert found["sidecar_store_size_bytes"] > 0
    assert found[WAITING] == 0


def test_prompts_that_wait_for_a_turn_are_counted(start: Start, workspace: Path) -> None:
    released = threading.Event()

    def look(_: Any) -> Any:
        assert released.wait(LIMIT)
        return {"content": []}

    client = start(answers={"tool/call": look})
    client.start(config={"telemetry": {"exporter": "prometheus", "port": 0}})
    about = {"cwd": str(workspace), "tools": [LOOK], "builtinTools": False}
    session = client.request("session/new", about)["sessionId"]
    words = [{"type": "text", "text": "call look {}"}]
    given = {"sessionId": session, "prompt": words}
    asked = [client.send("session/prompt", given)]

    def settled(prompts: int) -> tuple[int, float]:
        """Ask until so many wait, for prompts come into the line a moment after they are sent."""
        until = time.monotonic() + LIMIT
        while True:
            metrics = client.request("daemon/status")["metrics"]
            waiting = metrics["queues"]["prompts"]
            if waiting == prompts or time.monotonic() > until:
                return waiting, scrape(metrics["prometheus"])[WAITING]

    client.wait_for(lambda n: "in_progress" in str(n))
    assert settled(0) == (0, 0), "one runs, none waits"
    asked += [client.send("session/prompt", given) for _ in range(2)]
    assert settled(2) == (2, 2)
    released.set()
    for one in asked:
        assert client.result(one)["stopReason"] == "end_turn"
    assert settled(0) == (0, 0)


@pytest.mark.parametrize("how", ["start", "window"])
def test_by_default_no_port_is_open(
    how: str, workspace: Path, request: pytest.FixtureRequest
) -> None:
    client = request.getfixturevalue(how)(**({"begun": False} if how == "window" else {}))
    session = opened(client, workspace)
    say(client, session, "read notes.txt")
    status = client.request("daemon/status")
    assert "prometheus" not in status["metrics"]
    process = Path(f"/proc/{status['pid']}")
    sockets = process / "net/tcp"
    if not sockets.exists():
        pytest.skip("needs /proc")
    own = {link.readlink().name for link in (process / "fd").iterdir() if link.is_symlink()}
    inodes = {name[8:-1] for name in own if name.startswith("socket:[")}
    listening = [line.split() for line in sockets.read_text().splitlines()[1:]]
    assert not [line for line in listening if line[3] == "0A" and line[9] in inodes]


def test_an_alert_reaches_the_client_once_and_is_cleared_once(
    start: Start, workspace: Path
) -> None:
    (workspace / "large.txt").write_text("some_function(argument)\n" * 4_000)
    client = start()
    session = opened(client, workspace, alerts={"toolResults": 0.01, "utilisation": 0.01})
    for _ in range(3):
        say(client, session, "read large.txt")

    def told(name: str, state: str) -> list[Any]:
        return [
            n["params"]
            for n in client.notifications
            if n["method"] == "daemon/alert"
            and (n["params"]["name"], n["params"]["state"]) == (name, state)
        ]

    client.wait_for(
        lambda n: n["method"] == "daemon/alert" and n["params"]["name"] == "utilisation"
    )
    [hint], [alert] = told("tool_results", "raised"), told("utilisation", "raised")
    assert (hint["level"], alert["level"]) == ("info", "warning")
    assert alert["sessionId"] == session
    assert alert["value"] > alert["threshold"] == 0.01
    shown = [n["params"] for n in client.notifications if n["method"] == "window/showMessage"]
    assert shown == [{"type": 2, "message": f"{alert['message']} {alert['action']}"}]
    standing = client.request("daemon/status")["alerts"]
    assert {one["name"] for one in standing} == {"tool_results", "utilisation"}
    client.request("session/close", {"sessionId": session})
    assert client.request("daemon/status")["alerts"] == []
    assert len(told("utilisation", "cleared")) == len(told("tool_results", "cleared")) == 1


def test_what_goes_to_the_console_is_on_stderr(start: Start, workspace: Path) -> None:
    client = start()
    session = opened(client, workspace, telemetry={"exporter": "console"})
    say(client, session, "read notes.txt")
    assert client.stop() == 0
    assert '"invoke_agent sidecar"' in client.stderr
    assert "gen_ai.client.token.usage" in client.stderr
    assert "alpha" not in client.stderr, "what was said is in no span"

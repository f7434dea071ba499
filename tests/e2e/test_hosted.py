"""The daemon with the real SDK against the fake API: what is sent, through kills and restarts."""

import gzip
import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.plain import PlainClient
from tests.fakes.messages_api import FakeMessagesApi, Reply, broken, status, text, thinking, tools
from tests.fakes.validation import first_difference

Start = Callable[..., PlainClient]
RECORDED = Path(__file__).parents[2].parent / "shared" / "sessions"
KEY = "sk-ant-secret-of-the-test"


def options(api: FakeMessagesApi, **given: Any) -> dict[str, Any]:
    provider = {"name": "anthropic", "baseUrl": api.url, "apiKey": KEY}
    return {"model": "claude-sonnet-4-6", "provider": provider, **given}


def say(client: PlainClient, session: str, words: str) -> Any:
    prompt = [{"type": "text", "text": words}]
    return client.request("session/prompt", {"sessionId": session, "prompt": prompt})


def test_the_prefix_is_the_same_after_kill(start: Start, workspace: Path) -> None:
    (workspace / "AGENTS.md").write_text("Use tabs.\n")
    with FakeMessagesApi() as api:
        api.script(
            thinking("hm", "signed", tools(("toolu_1", "read_file", {"path": "notes.txt"}))),
            text("It says alpha."),
        )
        client = start()
        client.start(**options(api))
        session = client.request("session/new", {"cwd": str(workspace)})["sessionId"]
        result = say(client, session, "what do the notes say? " * 200)
        assert result["stopReason"] == "end_turn", result
        assert float(result["cost"]) > 0
        assert result["usage"]["cachedReadTokens"] > 0
        assert result["meter"]["accuracy"] == "exact"
        assert result["meter"]["cache"]["warm"] is True
        client.kill()
        (workspace / "AGENTS.md").write_text("Use spaces.\n")
        again = start()
        again.start(**options(api))
        again.request("session/load", {"sessionId": session, "replay": False})
        say(again, session, "and now?")
        first, second, third = (r.body for r in api.requests)
        assert first_difference(first, second) is None
        assert first_difference(second, third) is None
        assert "Use tabs." in json.dumps(third["system"])
        assert third["messages"][1]["content"][0] == {
            "type": "thinking",
            "thinking": "hm",
            "signature": "signed",
        }
        assert (api.refused, api.prefix_breaks) == ([], [])


def test_a_retry_is_shown_and_leaves_nothing_twice(start: Start, workspace: Path) -> None:
    with FakeMessagesApi() as api:
        api.script(broken("drop", after=5), status(529, "overloaded_error"), text("whole"))
        client = start()
        client.start(**options(api, retry={"attempts": 3, "capMs": 5000}))
        session = client.request("session/new", {"cwd": str(workspace)})["sessionId"]
        assert say(client, session, "go")["stopReason"] == "end_turn"
        retries = [n["params"] for n in client.notifications if n["method"] == "session/retrying"]
        assert [r["attempt"] for r in retries] == [1, 2]
        streamed = [u["_meta"]["sidecar"]["partId"] for u in client.updates("agent_message_chunk")]
        assert set(retries[0]["discard"]) == {streamed[0]}
        client.kill()
        again = start()
        again.start(**options(api))
        again.request("session/load", {"sessionId": session})
        told = "".join(u["content"]["text"] for u in again.updates("agent_message_chunk"))
        assert told == "whole"


def test_the_key_is_nowhere(start: Start, workspace: Path, tmp_path: Path) -> None:
    with FakeMessagesApi() as api:
        api.script(
            tools(("t1", "shell", {"command": "env; cat /proc/$PPID/cmdline"})),
            status(401, "authentication_error", "invalid key"),
        )

        def allow(params: Any) -> Any:
            return {"outcome": {"outcome": "selected", "optionId": "allow_once"}}

        client = start(
            answers={"session/request_permission": allow}, env={"ANTHROPIC_API_KEY": KEY}
        )
        client.start(**options(api))
        session = client.request("session/new", {"cwd": str(workspace)})["sessionId"]
        result = say(client, session, "show the environment")
        assert result["stopReason"] == "error"
        assert result["error"]["kind"] == "authentication"
        assert client.stop() == 0
        assert KEY not in json.dumps(client.notifications) + client.stderr
    for path in (tmp_path / "data").rglob("*"):
        assert path.is_dir() or KEY.encode() not in path.read_bytes()


def recorded() -> list[Path]:
    if not RECORDED.is_dir():
        return []
    named = {
        entry["file"]
        for entry in json.loads((RECORDED / "catalogue.json").read_text())
        if entry.get("core") and entry["fmt"] in ("claude", "mini-swe")
    }
    sizes = sorted((RECORDED / name for name in named), key=lambda p: p.stat().st_size)
    return sizes[:3]


@pytest.mark.skipif(not RECORDED.is_dir(), reason="recorded sessions are not beside this checkout")
@pytest.mark.parametrize("path", recorded() or [RECORDED], ids=lambda p: p.name[:40])
def test_a_recorded_session_is_played_step_by_step(
    start: Start, workspace: Path, path: Path
) -> None:
    """The model's recorded answers, and the recorded tool outputs from the client."""
    lines = read(path)
    turns = split_turns(lines)[:40]
    outputs = {
        part["id"]: part
        for line in lines
        for part in line["parts"]
        if part["type"] == "tool_result"
    }
    replies = [reply for _, answers in turns for reply in answers]
    names = sorted({b["name"] for r in replies for b in r.blocks if b["type"] == "tool_use"})

    def answer(params: Any) -> Any:
        found = outputs.get(params["callId"], {})
        content = [{"type": "text", "text": str(found.get("output", ""))}]
        return {"content": content, "isError": bool(found.get("is_error"))}

    with FakeMessagesApi() as api:
        api.script(*replies)
        client = start(answers={"tool/call": answer})
        client.start(**options(api))
        given = [{"name": n, "description": n, "inputSchema": {"type": "object"}} for n in names]
        session = client.request(
            "session/new",
            {"cwd": str(workspace), "tools": given, "builtinTools": False, "system": "Recorded."},
        )["sessionId"]
        for words, _ in turns:
            result = say(client, session, words)
            assert result["stopReason"] in ("end_turn", "blocked"), result
            assert result["meter"]["used"] == sum(result["meter"]["regions"].values())
        assert api.refused == []
        assert api.prefix_breaks == []
        assert len(api.requests) == len(replies)
        last = api.requests[-1].body
        sent = sum(1 for m in last["messages"] for b in m["content"] if b["type"] == "tool_result")
        assert sent == sum(
            len([b for b in r.blocks if b["type"] == "tool_use"]) for r in replies[:-1]
        )


def read(path: Path) -> list[dict[str, Any]]:
    """Read a session; a damaged line is passed over."""
    lines = []
    with gzip.open(path, "rt") as file:
        for line in file:
            with suppress(ValueError):
                lines.append(json.loads(line))
    return lines


def split_turns(lines: list[dict[str, Any]]) -> list[tuple[str, list[Reply]]]:
    """Give (typed text, the model's answers) for each turn; a turn ends without calls."""
    turns: list[tuple[str, list[Reply]]] = []
    for line in lines:
        words = "\n".join(p["text"] for p in line["parts"] if p["type"] == "text").strip()
        if line["role"] == "user" and line["origin"] == "human" and words:
            turns.append((words, []))
        elif line["role"] == "assistant" and turns:
            reply = answer_of(line, words)
            if reply is not None:
                turns[-1][1].append(reply)
    # A turn whose last answer still calls tools was interrupted; a closing text ends it here.
    whole = [(words, answers) for words, answers in turns if answers]
    for _, answers in whole:
        if answers[-1].stop == "tool_use":
            answers.append(text("Interrupted."))
        # An answer without calls in the middle would end the turn early.
        answers[:-1] = [a for a in answers[:-1] if a.stop == "tool_use"]
    return whole


def answer_of(line: dict[str, Any], words: str) -> Reply | None:
    calls = [p for p in line["parts"] if p["type"] == "tool_call" and isinstance(p["input"], dict)]
    made = tuple((c["id"], c["name"], c["input"]) for c in calls)
    if made:
        return tools(*made, words=words, piece=400)
    return text(words, piece=400) if words else None

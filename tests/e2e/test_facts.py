"""Facts through the real daemon: listed over the wire, and told where an epoch begins."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from sidecar.core.conversation.fact import fact_id, key_of
from sidecar.core.parts import SessionId
from sidecar.store.journal import Store
from tests.core.stated import stated
from tests.e2e.desk import Desk, Start

pytestmark = pytest.mark.long

AT = 1_795_219_200_000
NO_SESSION, BAD = -32010, -32602


def fact(content: str, kind: Any = "decision", at: int = AT) -> Any:
    return stated(content, kind, at)


def add(tmp_path: Path, session: str, cwd: Path, *facts: Any) -> None:
    """Keep facts as another process would, and promote the first."""
    folder = str(cwd.resolve())

    async def act() -> None:
        store = Store.open(tmp_path / "data", now=lambda: AT)
        await store.facts.add(SessionId(session), folder, facts)
        await store.facts.promoted(folder, [key_of(facts[0].content)], AT)
        await store.close()

    asyncio.run(act())


def listed(desk: Desk, **only: Any) -> list[str]:
    return [one["content"] for one in desk.client.request("facts/list", only)["facts"]]


def learned(workspace: Path, name: str, text: str) -> None:
    file = workspace / ".sidecar/learned" / f"{name}.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_facts_are_found_over_the_wire(desk: Desk, workspace: Path, tmp_path: Path) -> None:
    desk.open()
    old = fact("Postgres needs DATABASE_URL", "dependency", AT - 1)
    add(tmp_path, desk.session, workspace, old, fact('Say "no" to npm*'))
    add(tmp_path, "ses_other", tmp_path, fact("Postgres elsewhere", at=AT + 1))
    everything = desk.client.request("facts/list", {})["facts"]
    assert everything[-1] == {
        "factId": fact_id(old),
        "kind": "dependency",
        "content": old.content,
        "source": {"sessionId": desk.session, "turnId": "turn_1", "saidBy": "user"},
        "at": "2026-11-20T23:59:59.999Z",
        "learned": True,
    }
    assert [one["learned"] for one in everything] == [True, False, True]
    assert listed(desk, sessionId=desk.session) == ['Say "no" to npm*', old.content]
    assert listed(desk, cwd=str(workspace), query="postg") == [old.content]
    assert listed(desk, query="postgres") == ["Postgres elsewhere", old.content]
    assert listed(desk, kind="dependency") == [old.content]
    for query in ('"no', "npm*", "NEAR(", "a AND", "%", "'"):
        assert old.content not in listed(desk, query=query)
    assert desk.refused("facts/list", kind="opinion").code == BAD
    assert desk.refused("facts/list", cwd="a\0b").code == BAD
    desk("session/delete")
    assert listed(desk) == ["Postgres elsewhere", old.content]
    desk.session = "ses_none"
    assert desk.refused("facts/list").code == NO_SESSION


def test_what_was_learned_is_told_from_the_next_epoch_on(desk: Desk, workspace: Path) -> None:
    learned(workspace, "decisions", "# Ours\n\n- Use pnpm here <!-- 2026-11-20 s t 00000000 -->\n")
    desk.open()
    desk.work(2)
    first = desk.shown()
    assert "Decisions:\\n- Use pnpm here\\n</learned>" in first
    assert "2026-11-20" not in first
    learned(workspace, "errors", "- Port 80 is taken: use 8080\n")
    desk.work(1)
    assert "8080" not in desk.shown()
    assert desk("context/meter")["regions"]["learned"] > 0
    assert desk.compact("economic") is not None
    assert "Errors:\\n- Port 80 is taken: use 8080\\n</learned>" in desk.shown()
    desk.check()
    shown = desk.shown()
    learned(workspace, "errors", "")
    desk.again()
    assert desk.shown() == shown
    desk.work(1)


def test_without_trust_nothing_is_told(start: Start, workspace: Path) -> None:
    learned(workspace, "decisions", "- Use pnpm here\n")
    client = start()
    client.start(workspaceTrusted=False)
    session = client.request("session/new", {"cwd": str(workspace)})["sessionId"]
    assert "pnpm" not in str(client.request("context/preview", {"sessionId": session}))

"""Bundles from somebody who means ill, or from nobody in particular: refused, or harmless."""

import asyncio
import json
import os
import random
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sidecar.config import Provider
from sidecar.core.errors import BadRequest, SidecarError
from sidecar.core.parts import PatchPart
from sidecar.session.interface import Wish
from sidecar.session.log.channel import BLOCK
from tests.fakes.scripted_model import calls, says
from tests.session import inside
from tests.session.conftest import LIMIT, Desk, World
from tests.session.stories import away, look_at, story, take, taken
from tests.store.contents import blob

ROUNDS = int(os.environ.get("SIDECAR_FUZZ", "40"))
WRONG = (None, -1, 0, 10**17, 3.5, "", "x", "\ud800", "../../etc/passwd", [], {}, [None], True)


def of(things: list[Any], kind: str, record: str = "") -> Iterator[Any]:
    for thing in things:
        if kind in thing and (not record or thing[kind]["kind"] == record):
            yield thing[kind]


def body_of(record: Any, **changes: Any) -> None:
    """Change the body of a record."""
    record["body"] = json.dumps({**json.loads(record["body"]), **changes})


@pytest.fixture
async def things(world: World, tmp_path: Path) -> list[Any]:
    async with world.daemon() as desk, asyncio.timeout(LIMIT):
        return await story(desk, tmp_path / "a.sidecar")


@pytest.fixture
async def desk(world: World, things: list[Any]) -> AsyncIterator[Desk]:
    """Another daemon with another store, which knows nothing of what was sent before."""
    async with away(world).daemon() as running:
        yield running


async def test_what_was_exported_is_taken(desk: Desk, things: list[Any]) -> None:
    made = await take(desk, things)
    assert inside.records(made)[-1].kind == "imported"
    kinds = {record.kind for record in inside.records(made)}
    assert {"epoch", "rewrite", "rewrite_undone", "pin", "restored"} <= kinds
    assert len(inside.pinned(made)) == 1


async def test_no_tool_runs_without_being_asked_for(desk: Desk, things: list[Any]) -> None:
    for record in of(things, "record", "epoch"):
        tools = json.loads(record["body"])["tools"]
        for tool in tools:
            tool |= {"kind": "read", "readOnly": True}
        tools.append({**tools[0], "name": "mine", "origin": "builtin"})
        body_of(record, tools=tools)
    made = await take(desk, things)
    kinds = {tool.name: tool.kind for tool in inside.static(made).tools}
    assert (kinds["shell"], kinds["look"], kinds["mine"]) == ("execute", "execute", "execute")
    assert kinds["read_file"] == "read"
    asked = len(desk.editor.asked)
    desk.editor.permission = "reject_once"
    desk.script(calls(("y", "shell", {"command": "touch ran"})), says("No."))
    await desk.ask(made, "Run it.")
    assert len(desk.editor.asked) == asked + 1
    assert not (desk.workspace / "ran").exists()


async def test_what_the_operator_says_is_said_here(desk: Desk, things: list[Any]) -> None:
    honest = inside.static(await take(desk, things))
    for record in of(things, "record", "epoch"):
        body = json.loads(record["body"])
        for tool in body["tools"]:
            if tool["origin"] == "builtin":
                tool |= {"description": "EVIL", "inputSchema": {}}
        evil = ("system", "instructions", "learned")
        system = [{**body["system"][0], "text": "EVIL", "region": region} for region in evil]
        body_of(record, tools=body["tools"], system=system)
    assert any("system prompt" in note for note in (await taken(desk, things)).notes)
    made = await take(desk, things)
    assert inside.static(made) == honest
    assert "EVIL" not in str([record.body for record in inside.records(made)])
    desk.script(says("Yes."))
    await desk.ask(made, "Is all well?")
    assert desk.prompts()[-1].system == honest.system


@pytest.mark.parametrize(
    ("base_url", "model", "is_left"),
    [
        ("", "stranger/free", False),
        ("https://router.test", "stranger/free", True),
        ("", "ollama/stranger", True),
        ("", "openrouter/stranger:free", True),
    ],
)
async def test_no_bundle_chooses_who_is_asked(
    world: World, things: list[Any], base_url: str, model: str, is_left: bool
) -> None:
    for record in of(things, "record", "epoch"):
        body_of(record, model=model)
    (session,) = of(things, "session")
    session["settings"] = json.dumps({**json.loads(session["settings"]), "model": model})
    other = away(world)
    other.config = replace(world.config, provider=Provider(base_url=base_url))
    async with other.daemon() as desk:
        left = [note for note in (await taken(desk, things)).notes if model in note]
        assert len(left) == is_left
        made = await take(desk, things)
        model = world.config.model if is_left else model
        assert inside.static(made).model == inside.row(made).settings["model"] == model


async def test_nothing_of_files_is_believed(desk: Desk, things: list[Any]) -> None:
    entry = [0o100644, blob(b"evil").hash, 4, None, 1]
    change = {
        "path": "../../evil",
        "change": "created",
        "author": "tool",
        "old": entry,
        "new": None,
    }
    sets = [{"before": 1, "after": 2, "changes": [change]}]
    for record in of(things, "record", "restored"):
        body_of(record, sets=sets)
    message = next(n for n, thing in enumerate(things) if "message" in thing)
    patch = {"id": "patch", "type": "patch", "files": [{"path": "x", "change": "created"}]}
    things.insert(message + 1, {"part": {**patch, "detail": json.dumps({"at": 9, "sets": sets})}})
    made = await take(desk, things)
    patches = [p for m in inside.messages(made) for p in m.parts if isinstance(p, PatchPart)]
    assert patches
    assert all(not patch.detail for patch in patches)
    assert "evil" not in str([record.body for record in inside.records(made)])
    listed = await made.checkpoints.listed()
    with pytest.raises(SidecarError):
        await made.rollback.restore(Wish("files", listed.checkpoints[0].checkpoint.id))


async def test_settings_are_what_they_can_be(desk: Desk, things: list[Any]) -> None:
    (session,) = of(things, "session")
    wrong = {
        "model": "other", "policy": "mine", "window": -5, "maxTokens": 10**8, "effort": {},
        "autoCompact": "no", "parent": "ses_other", "permissions": {"allow": ["*"]},
        "recorded": {"turns": 1, "ended": 1, "cost": "1e999", "by": "pi"},
    }  # fmt: skip
    session |= {"cwd": "/", "title": "t\n" * 5000, "settings": json.dumps(wrong), "seq": -3}
    made = await take(desk, things)
    row = inside.row(made)
    assert set(row.settings) == {
        "model", "policy", "window", "maxTokens", "agent", "effort", "autoCompact", "autoContinue",
    }  # fmt: skip
    assert (row.settings["model"], row.settings["policy"]) == ("other", desk.world.config.policy)
    assert (row.settings["effort"], row.settings["autoCompact"]) == ("", True)
    # One line, as a question may name it.
    assert (row.cwd, row.title, row.seq) == (str(desk.workspace), "t " * 500, BLOCK)


async def test_pins_of_other_sessions_are_left_out(desk: Desk, things: list[Any]) -> None:
    (pin,) = of(things, "record", "pin")
    body_of(pin, partId="part_of_another")
    made = await take(desk, things)
    assert inside.pinned(made) == frozenset()


def _rewrite(things: list[Any]) -> Any:
    return next(of(things, "record", "rewrite"))


def _itself(things: list[Any]) -> None:
    note = json.loads(_rewrite(things)["body"])["notes"][0]
    body_of(_rewrite(things), retired=[note["id"]])


def _circle(things: list[Any]) -> None:
    record = next(of(things, "record", "restored"))
    body_of(record, undoes=json.loads(record["body"])["restoreId"])


WRONGS: dict[str, tuple[Callable[[list[Any]], object], str]] = {
    "a rewrite of itself": (_itself, "later one"),
    "a restore of itself": (_circle, "later one"),
    "a factor of nothing": (lambda t: body_of(_rewrite(t), factor=0), "factor"),
    "no shape": (lambda t: body_of(_rewrite(t), notes=3), "not as Sidecar writes.*notes"),
    "no epoch": (lambda t: [r.update(kind="x") for r in of(t, "record", "epoch")], "no beginning"),
    "a cost of chance": (lambda t: next(of(t, "session")).update(cost="1e999999"), "no number"),
    "a name of chance": (lambda t: next(of(t, "part")).update(id="\ud800"), "a name"),
    "a call that runs": (
        lambda t: next(p for p in of(t, "part") if p["type"] == "tool").update(
            state={"type": "running", "started": 1}
        ),
        "not ended",
    ),
    "an answer first": (
        lambda t: next(of(t, "message")).update(role="assistant"),
        "no conversation",
    ),
}


@pytest.mark.parametrize("name", WRONGS)
async def test_what_would_harm_is_refused(desk: Desk, things: list[Any], name: str) -> None:
    change, why = WRONGS[name]
    change(things)
    with pytest.raises(BadRequest, match=why):
        await take(desk, things)
    assert (await desk.store.verify()).sessions == 0


async def test_whatever_stands_there_is_refused_or_can_be_opened(
    desk: Desk, things: list[Any]
) -> None:
    whole, taken = json.dumps(things), 0
    # A provider may refuse what stands there; that is an error that people are told of.
    desk.model.observe = lambda _: None
    for seed in range(ROUNDS):
        chance = random.Random(seed)
        things = json.loads(whole)
        for _ in range(chance.randint(1, 2)):
            twist(things, chance)
        try:
            made = await take(desk, things)
        except BadRequest:
            continue
        taken += 1
        async with asyncio.timeout(LIMIT):
            await look_at(desk, made)
        await desk.sessions.delete(made.id)
    report = await desk.store.verify()
    assert (report.sessions, report.problems) == (0, ())
    assert 0 < taken < ROUNDS


def twist(things: list[Any], chance: random.Random) -> None:
    """Change one value somewhere in the things, or within the JSON that they hold."""
    if chance.random() < 0.15:
        at = chance.randrange(1, len(things))
        match chance.randrange(3):
            case 0:
                del things[at]
            case 1:
                things.insert(at, things[chance.randrange(len(things))])
            case _:
                things[at], things[at - 1] = things[at - 1], things[at]
        return
    # What was said is checked by its form alone, so that most is in the records.
    kinds = ["record"] * 6 + ["part", "part", "message", "session"]
    kind = chance.choice(kinds)
    thing = chance.choice(list(of(things, kind)))
    opaque = [key for key in ("body", "input", "metadata", "settings", "detail") if key in thing]
    if opaque and chance.random() < 0.8:
        inner = json.loads(thing[opaque[0]])
        if not isinstance(inner, dict) or not inner:
            return
        change(inner, chance)
        thing[opaque[0]] = json.dumps(inner)
    else:
        change(thing, chance)


def change(value: Any, chance: random.Random) -> None:
    """Change something at any depth."""
    while True:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        if not keys:
            return
        key = chance.choice(keys)
        inner = value[key]
        if isinstance(inner, dict | list) and inner and chance.random() < 0.7:
            value = inner
            continue
        if isinstance(value, dict) and chance.random() < 0.2:
            del value[key]
        else:
            value[key] = chance.choice(WRONG)
        return

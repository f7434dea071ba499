"""Other agents' recordings: made such that any provider takes them, and refused in plain words."""

import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sidecar.core.errors import BadRequest
from sidecar.core.ledger.units import RECORDED_SUMMARY
from sidecar.core.parts import FilePart, Media, ReasoningPart, TextPart, ToolCompleted, ToolPart
from sidecar.session.lifecycle.session import Session
from sidecar.session.transfer import foreign_import
from sidecar.session.transfer.bundle_export import export_session
from sidecar.session.transfer.bundle_import import Imported, ImportSource, import_session
from sidecar.session.transfer.foreign_import import BEGINNING, read_recording
from sidecar.store.format.log_records import OptionRecord
from tests.fakes.cache_simulator import CacheSimulator
from tests.fakes.scripted_model import says
from tests.fakes.validation import refusal
from tests.replay.importers.test_media import DATA, with_images
from tests.replay.recorded import SESSIONS
from tests.session import inside
from tests.session.conftest import Desk

pytestmark = pytest.mark.long

NOW = 1_800_000_000_000


def line(role: str, *parts: Any, **given: Any) -> dict[str, Any]:
    origin = {"origin": "human"} if role == "user" else {"origin": "model"}
    return {"role": role, **origin, "parts": list(parts), **given}


def said(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def call(name: str, given: Any, call_id: str = "call-1") -> dict[str, Any]:
    return {"type": "tool_call", "id": call_id, "name": name, "input": given}


def result(output: str, call_id: str = "call-1") -> dict[str, Any]:
    return line("tool", {"type": "tool_result", "id": call_id, "output": output})


def content(*lines: Any) -> bytes:
    return "".join(json.dumps(one) + "\n" for one in lines).encode()


def read(*lines: Any) -> Any:
    return read_recording(content(*lines), "", "x", NOW)


async def take(desk: Desk, **given: Any) -> tuple[Session, Imported]:
    environment = await desk.sessions.shared.ready()
    made = await import_session(environment, ImportSource(**given), str(desk.workspace), None)
    session = await desk.sessions.get(made.session_id)
    session.audience.attach(desk.watch, desk.editor)
    return session, made


async def test_whatever_it_called_and_said_can_be_sent(desk: Desk) -> None:
    odd = "mcp.server/tool with blanks and a name that is longer than any provider takes" * 2
    recording = content(
        line("assistant", said("I begin."), ts=1.0),
        line("user", said("Look."), {"type": "image", "media_type": "image/png"}),
        line("assistant", call(odd, "just a text", "a b"), call("same", {"x": 1}, "twice")),
        result("one", "a b"),
        result("two", "twice"),
        line("assistant", {"type": "reasoning", "text": "Hm."}, call("same", None, "twice")),
        line("assistant", said("  "), call("never", {"answered": True}, "last")),
    )
    made, about = await take(desk, content=recording.decode())
    desk.script(says("Yes."))
    assert (await desk.ask(made, "Go on?")).stop_reason == "end_turn"
    body = (await made.rewriting.preview(())).body
    assert refusal(body) is None or "end with a user message" in str(refusal(body))
    assert about.format == "neutral"
    first, *_ = inside.messages(made)
    assert [p.text for p in first.parts if isinstance(p, TextPart)] == [BEGINNING]
    parts = [p for m in inside.messages(made) for p in m.parts]
    assert not any(isinstance(p, FilePart) for p in parts)
    assert all(not p.metadata for p in parts if isinstance(p, ReasoningPart))
    calls = [p for p in parts if isinstance(p, ToolPart)]
    assert len({p.call_id for p in calls}) == len(calls) == 4
    assert calls[0].input == {"input": "just a text"}
    assert (await desk.store.verify()).problems == ()


@pytest.mark.parametrize("end", ["", "AA==", "-AAA", "A AA", "AA", "AA=A"])
def test_only_images_that_a_provider_takes_are_kept(end: str) -> None:
    """Whose beginning is base64 may be damaged further on."""
    data = "AAAA" * 150 + end
    recording = content(*with_images("pi")).replace(DATA.encode(), data.encode())
    parts = [p for m in read_recording(recording, "", "x", NOW).messages for p in m.parts]
    images = [p.media for p in parts if isinstance(p, FilePart)]
    for part in parts:
        if isinstance(part, ToolPart) and isinstance(part.state, ToolCompleted):
            images += part.state.output.media
    assert images == [Media("image/png", data)] * (2 if end in ("", "AA==") else 0)


async def test_two_of_the_same_have_ids_of_their_own(desk: Desk) -> None:
    recording = content(line("user", said("Hi")), line("assistant", said("Hello"))).decode()
    (one, _), (two, _) = await take(desk, content=recording), await take(desk, content=recording)
    ids = [{m.id for m in inside.messages(s)} for s in (one, two)]
    assert ids[0].isdisjoint(ids[1])


def test_nothing_is_later_than_now() -> None:
    found = read(line("user", said("Hi"), ts=9e12), line("assistant", said("Hello")))
    assert all(0 <= message.created <= NOW for message in found.messages)


def _bomb(path: Path) -> None:
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(40):
            file.write(b"\n" * 1_000_000)


REFUSED: dict[str, tuple[Callable[[Path], object], str]] = {
    "a store": (lambda path: path.write_bytes(b"SQLite format 3\0" + bytes(99)), "sidecar export"),
    "a bomb": (_bomb, "cannot be imported"),
    "nothing of interest": (
        lambda path: path.write_bytes(content(line("user"))),
        "no messages that can be read",
    ),
    "too many messages": (
        lambda path: path.write_bytes(content(*[line("user", said("Hi"))] * 50)),
        "cannot be imported",
    ),
    "too much that is no line": (
        lambda path: path.write_bytes(content(line("user", said("Hi"))) + b"[1]\n" * 50),
        "cannot be read",
    ),
    "no recording": (lambda path: path.write_text("[]"), "no recording"),
    "something nested deep": (lambda path: path.write_text("[" * 10**6), "nested too deep"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(foreign_import, "MOST_BYTES", 20_000_000)
    monkeypatch.setattr(foreign_import, "MOST_MESSAGES", 40)
    monkeypatch.setattr(foreign_import, "MOST_SKIPPED", 40)
    write, why = REFUSED[name]
    write(tmp_path / "it")
    with pytest.raises(BadRequest, match=why) as error:
        read_recording(tmp_path / "it", "", "x", NOW)
    assert error.value.data["path"] == "params.path"


def recordings() -> list[Path]:
    raw = [path for path in SESSIONS.glob("raw/**/*") if ".jsonl" in path.name]
    return sorted(raw) + sorted(SESSIONS.glob("normalised/*"))[::4]


@pytest.mark.skipif(not SESSIONS.is_dir(), reason="no recorded sessions are at hand")
async def test_real_recordings_go_on(desk: Desk) -> None:
    formats = set()
    for path in recordings():
        made, about = await take(desk, path=str(path))
        formats.add(about.format)
        inside.configure(made, "window", 1_000_000)
        body = (await made.rewriting.preview(({"type": "text", "text": "And now?"},))).body
        assert refusal(body) is None, path
        await desk.sessions.close(made.id)
    assert {"claude-code", "codex", "neutral", "pi"} <= formats
    assert (await desk.store.verify()).problems == ()


def worked(tokens: int) -> bytes:
    """A recording of 40 requests with as much in them, all of it paid for elsewhere."""
    text = "".join(f"def name_{n}(one): return one + {n}\n" for n in range(tokens // 40 // 12))
    lines = [line("user", said("Read them all."), ts=1.0)]
    for number in range(40):
        usage = {"prompt": tokens, "uncached": tokens, "cache_read": 0, "output": 9}
        asked = call("show", {"path": f"{number}.py"}, f"call-{number}")
        lines.append(line("assistant", asked, ts=2.0 + number, usage=usage))
        lines.append(result(f"# {number}\n{text}", f"call-{number}"))
    return content(*lines)


@pytest.mark.parametrize(("share", "cut"), [(0.3, False), (0.6, True)])
@pytest.mark.parametrize("minutes", [0, 10, 600])
async def test_an_import_is_cut_at_its_first_prompt_only_where_it_fills_half_the_window(
    desk: Desk, share: float, minutes: int, cut: bool
) -> None:
    desk.model.cache = CacheSimulator(lambda: desk.world.time / 1000)
    made, _ = await take(desk, content=worked(round(share * 200_000)).decode())
    inside.configure(made, "window", 200_000)
    desk.world.time += minutes * 60_000
    for _ in range(3):
        desk.script(says("Yes."))
        assert (await desk.ask(made, "Go on.")).stop_reason == "end_turn"
    assert bool(inside.rewrites(made)) is cut


def test_a_summary_that_a_recording_holds_of_itself_is_kept_as_context(tmp_path: Path) -> None:
    path = tmp_path / "it"
    path.write_bytes(
        content(
            line("user", said("Hi")),
            line("assistant", said("Done.")),
            {**line("user", said("We built the parser.")), "origin": "compact_summary"},
            line("user", said("Go on")),
        )
    )
    [_, _, note, newest] = read_recording(path, "", "x", NOW).messages
    [part] = note.parts
    assert isinstance(part, TextPart)
    assert (part.text, part.source) == (f"{RECORDED_SUMMARY}We built the parser.", "context")
    assert note.turn_id != newest.turn_id
    assert len({note.id, newest.id}) == 2


async def test_it_is_bound_to_no_model_until_one_is_chosen_or_asked(desk: Desk) -> None:
    recording = content(line("user", said("Hi")), line("assistant", said("Hello"))).decode()
    environment = await desk.sessions.shared.ready()
    configured = environment.settings.config
    environment.settings.config = replace(configured, model="offline")
    made = [
        await import_session(
            environment, ImportSource(content=recording), str(desk.workspace), None
        )
        for _ in range(2)
    ]
    environment.settings.config = replace(configured, model="claude-sonnet-4-6")
    first, second = [await desk.sessions.get(one.session_id) for one in made]
    assert inside.row(first).settings["model"] == "claude-sonnet-4-6"
    inside.configure(second, "model", "claude-opus-5")
    await inside.log(second).writer.commit(OptionRecord(config_id="model"))
    await desk.sessions.close(made[1].session_id)
    again = await desk.sessions.get(made[1].session_id)
    assert inside.row(again).settings["model"] == "claude-opus-5"


async def test_its_date_and_cost_are_kept_and_what_is_left_out_is_said(desk: Desk) -> None:
    usage = {"prompt": 9, "uncached": 9, "output": 1, "cost": 0.5}
    recording = content(
        line("user", said("Hi"), {"type": "image", "media_type": "image/png"}, ts=1_600_000_000.0),
        line("assistant", said("Hello"), ts=1_600_000_060.0, model="m", usage=usage),
    ).decode()
    session, about = await take(desk, content=recording)
    row = inside.row(session)
    then = {"turns": 1, "ended": row.created + 60_000, "cost": "0.5", "by": "neutral"}
    assert row.settings["recorded"] == then
    # Nothing was paid for it here.
    assert row.cost == "0"
    # Nor is it forgotten on a third machine.
    environment = await desk.sessions.shared.ready()
    written = await export_session(environment, session.id, None, overwrite=False)
    again, _ = await take(desk, path=str(written.path))
    assert inside.row(again).settings["recorded"] == then
    told = " ".join(about.notes)
    assert "It was recorded with m, and is bound to no model" in told
    assert "Images whose bytes are not there, or which no provider takes, are left out: 1." in told

"""Whatever a recording holds, importing it gives entries and raises nothing."""

import copy
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sidecar.core.errors import BadRequest
from sidecar.core.parts import Json, JsonObject, Message, ToolCompleted, ToolError, ToolPart
from sidecar.replay.importers.recognition import Importer, importers, open_transcript
from sidecar.replay.transcript import Compacted, DamagedLine, TranscriptEntry
from tests.replay.importers.recordings import FORMATS

pytestmark = pytest.mark.long

ODD: tuple[Json, ...] = (
    *(None, True, False, 0, -1, 3.5, 10**400, float("nan"), float("inf"), float("-inf"), 1e300),
    *("", "x", "\ud800", "2026", "c1", "tool_result", "assistant"),
    *([], [[]], [None], ["x"], [{}], [{"type": []}], [{"type": "text", "text": 3}]),
    *({}, {"type": {}}, {"type": "text", "text": []}, {"content": [{}]}),
)

Place = tuple[str | int, ...]


def places(value: Json, at: Place = ()) -> Iterator[Place]:
    """Give the way to every value within one."""
    inner: Iterable[tuple[str | int, Json]] = ()
    if isinstance(value, dict):
        inner = value.items()
    elif isinstance(value, list):
        inner = enumerate(value)
    for key, child in inner:
        yield (*at, key)
        yield from places(child, (*at, key))


def put(lines: list[JsonObject], place: Place, odd: Json) -> None:
    holder: Json = lines[int(place[0])]
    for key in place[1:-1]:
        if isinstance(holder, dict) and key in holder:
            holder = holder[str(key)]
        elif isinstance(holder, list) and isinstance(key, int) and key < len(holder):
            holder = holder[key]
        else:
            return
    if isinstance(holder, dict):
        holder[str(place[-1])] = copy.deepcopy(odd)
    elif isinstance(holder, list) and isinstance(place[-1], int) and place[-1] < len(holder):
        holder[place[-1]] = copy.deepcopy(odd)


def check(entries: Iterable[TranscriptEntry], most: int) -> None:
    seen: set[object] = set()
    for entry in entries:
        match entry:
            case DamagedLine(line=line, why=why):
                assert 0 <= line <= most
                assert why
            case Compacted(at=at):
                assert at >= 0
            case Message():
                assert entry.created >= 0
                ids = [entry.id, *(part.id for part in entry.parts)]
                assert not seen.intersection(ids)
                assert len(set(ids)) == len(ids)
                seen.update(ids)
                for part in entry.parts:
                    if isinstance(part, ToolPart):
                        assert isinstance(part.state, ToolCompleted | ToolError)


@pytest.mark.parametrize("importer", importers(), ids=lambda importer: importer.FORMAT)
def test_any_value_may_be_anything_else(importer: Importer) -> None:
    whole = FORMATS[importer.FORMAT]
    for place in places(list(whole)):
        for odd in ODD:
            lines = copy.deepcopy(whole)
            if len(place) == 1:
                if not isinstance(odd, dict):
                    continue
                lines[int(place[0])] = copy.deepcopy(odd)
            else:
                put(lines, place, odd)
            importer.recognises(lines)
            check(importer.entries(iter(list(enumerate(lines, 1)))), len(lines))
            bill = getattr(importer, "bill", lambda _: ())
            assert all(one.cost is None or one.cost > 0 for one in bill(enumerate(lines, 1)))


@pytest.mark.parametrize("name", FORMATS)
@given(data=st.data())
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_mangled_bytes_and_missing_lines_stop_nothing(
    tmp_path: Path, name: str, data: st.DataObject
) -> None:
    lines = copy.deepcopy(FORMATS[name])
    every = [place for place in places(list(lines)) if len(place) > 1]
    for place in data.draw(st.lists(st.sampled_from(every), max_size=4)):
        put(lines, place, data.draw(st.sampled_from(ODD)))
    order = data.draw(st.lists(st.integers(0, len(lines) - 1), max_size=2 * len(lines)))
    raw = bytearray(b"\n".join(json.dumps(lines[at]).encode() for at in order or range(len(lines))))
    spots = st.tuples(st.integers(0, len(raw) - 1), st.integers(0, 255))
    for spot, byte in data.draw(st.lists(spots, max_size=6)):
        raw[spot] = byte
    path = tmp_path / "a.jsonl"
    path.write_bytes(raw[: data.draw(st.integers(len(raw) // 2, len(raw)))])
    try:
        transcript = open_transcript(path)
    except BadRequest:
        return
    check(transcript.entries, raw.count(b"\n") + 1)

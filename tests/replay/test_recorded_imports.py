"""Importing an agent's own file gives what is known to be in it, where recordings are at hand."""

import gzip
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from sidecar.core.parts import (
    JsonObject,
    Message,
    ReasoningPart,
    StepFinishPart,
    TextPart,
    ToolCompleted,
    ToolPart,
)
from sidecar.replay.importers import claude_code_recording, codex_recording, pi_recording
from sidecar.replay.transcript import NO_MODEL, Compacted, DamagedLine, TranscriptEntry, objects
from tests.replay.recorded import SESSIONS

IMPORTERS = {"claude": claude_code_recording, "codex": codex_recording, "pi": pi_recording}


def lines(path: Path) -> list[JsonObject]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def imported(found: Iterable[TranscriptEntry]) -> Iterator[tuple[object, ...]]:
    for entry in found:
        assert not isinstance(entry, DamagedLine), entry
        if isinstance(entry, Compacted):
            yield ("compacted",)
            continue
        yield from message(entry)


def message(given: Message) -> Iterator[tuple[object, ...]]:
    results: list[tuple[object, ...]] = []
    for part in given.parts:
        match part:
            case TextPart():
                yield given.role, "text", part.text
            case ReasoningPart():
                yield given.role, "reasoning", part.text
            case ToolPart():
                yield "call", part.call_id, part.name
                if isinstance(part.state, ToolCompleted):
                    failed = part.state.metadata.get("isError") is True
                    results.append(("result", part.call_id, part.state.output.text, failed))
            case StepFinishPart():
                yield "prompt", part.usage.prompt
            case _:
                raise AssertionError(part)
    yield from results


def expected(given: Iterable[JsonObject]) -> Iterator[tuple[object, ...]]:
    """Give the same from the neutral format, a response's results in the order of its calls."""
    calls: list[object] = []
    results: dict[object, tuple[object, ...]] = {}
    for line in given:
        parts = objects(line["parts"])
        if line["role"] == "tool":
            for part in parts:
                results[part["id"]] = ("result", part["id"], part["output"], part["is_error"])
            continue
        yield from (results[call] for call in calls if call in results)
        calls, results = [], {}
        if line.get("compaction"):
            yield ("compacted",)
            continue
        for part in parts:
            if part["type"] == "tool_call":
                calls.append(part["id"])
                yield "call", part["id"], part["name"]
            else:
                role = "user" if line["model"] == NO_MODEL else line["role"]
                yield role, part["type"], part["text"]
        if line["role"] == "assistant" and line["model"] != NO_MODEL:
            usage = line["usage"]
            yield "prompt", usage["prompt"] if isinstance(usage, dict) else 0
    yield from (results[call] for call in calls if call in results)


@pytest.mark.parametrize(("prefix", "importer"), IMPORTERS.items(), ids=IMPORTERS)
def test_a_recording_is_read_as_it_is_known_to_be(prefix: str, importer: ModuleType) -> None:
    raw = sorted((SESSIONS / "raw").glob(f"{prefix}-*.jsonl.gz"))
    if not raw:
        pytest.skip("no recorded sessions are at hand")
    for path in raw:
        given = lines(path)
        assert importer.recognises(given[:20])
        found = list(imported(importer.entries(enumerate(given, 1))))
        assert found == list(expected(lines(SESSIONS / "normalised" / path.name)))

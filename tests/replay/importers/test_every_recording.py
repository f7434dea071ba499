"""Every recorded session at hand is read whole, and an agent's own file says what is known."""

from collections.abc import Iterator

import pytest

from sidecar.core.parts import (
    Message,
    ReasoningPart,
    StepFinishPart,
    TextPart,
    ToolCompleted,
    ToolError,
    ToolPart,
)
from sidecar.replay.importers.recognition import find_recordings, open_transcript
from sidecar.replay.transcript import Compacted, DamagedLine, Transcript
from tests.replay.recorded import AT_HAND, SESSIONS

RAW = {"claude-cli": "claude-code", "codex-agentv": "codex", "pi-pi": "pi"}
BEGUN_BEFORE = 2
"""Recordings that begin with the result of a call that was made before."""

pytestmark = AT_HAND


def told(transcript: Transcript) -> Iterator[tuple[object, ...]]:
    """Everything of which both an agent's file and the neutral form know."""
    for entry in transcript.entries:
        match entry:
            case DamagedLine():
                yield "damaged", entry.why
            case Compacted():
                yield ("compacted",)
            case Message():
                yield entry.role, entry.turn_id, entry.model
                for part in entry.parts:
                    yield from _part(part)


def _part(part: object) -> Iterator[tuple[object, ...]]:
    match part:
        case TextPart(text=text, source=source):
            yield source, text
        case ReasoningPart(text=text):
            yield "reasoning", text
        case ToolPart(state=ToolCompleted(output=output)):
            yield part.call_id, part.name, part.input, output.text
        case ToolPart(state=ToolError(failure=failure)):
            yield part.call_id, part.name, part.input, failure
        case StepFinishPart(usage=usage):
            yield usage.prompt, usage.cache_read
        case _:
            raise AssertionError(part)


def test_every_recording_is_read_and_every_call_has_ended() -> None:
    damaged: list[DamagedLine] = []
    transcripts = [open_transcript(path) for path in find_recordings(SESSIONS / "normalised")]
    assert len(transcripts) > 50
    for transcript in transcripts:
        assert transcript.format == "neutral"
        for entry in transcript.entries:
            match entry:
                case DamagedLine():
                    damaged.append(entry)
                case Message(parts=parts):
                    assert parts
                    for part in parts:
                        if isinstance(part, ToolPart):
                            assert isinstance(part.state, ToolCompleted | ToolError)
                case _:
                    pass
    assert [entry.line for entry in damaged] == [1] * BEGUN_BEFORE


@pytest.mark.parametrize("prefix", RAW)
def test_an_agent_s_own_file_gives_what_its_neutral_form_gives(prefix: str) -> None:
    paths = sorted((SESSIONS / "raw").glob(f"{prefix}*"))
    assert paths
    for path in paths:
        raw = open_transcript(path)
        assert raw.format == RAW[prefix]
        assert raw.cwd
        assert raw.session
        assert list(told(raw)) == list(told(open_transcript(SESSIONS / "normalised" / path.name)))

"""Reads another agent's recording as messages to continue.

They fit any provider: valid names and ids, no signatures, a word for images without bytes.
"""

import gzip
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import field, replace
from pathlib import Path
from typing import Final

from sidecar.core.conversation.sendable import is_id, plain, tool_input, tool_name
from sidecar.core.conversation.turns import is_settled
from sidecar.core.dataclass import dataclass
from sidecar.core.errors import BadRequest
from sidecar.core.ledger.units import RECORDED_SUMMARY
from sidecar.core.parts import (
    MEDIA_TYPES,
    MOST_MEDIA,
    FilePart,
    Media,
    Message,
    MessageId,
    Millis,
    OpaquePart,
    Part,
    PartId,
    PatchPart,
    ReasoningPart,
    TextPart,
    ToolCompleted,
    ToolError,
    ToolPart,
    TurnId,
    base64_of,
)
from sidecar.replay.bill import bill_of
from sidecar.replay.importers.recognition import open_transcript, read_bill
from sidecar.replay.transcript import Compacted, DamagedLine
from sidecar.session.transfer.taken_recording import Recording
from sidecar.store.content.changes import weight
from sidecar.store.format.bundles import MOST_BYTES, MOST_LINES
from sidecar.store.format.signatures import GZIP, SQLITE

MOST_MESSAGES: Final = 100_000
MOST_SKIPPED: Final = 10_000
BEGINNING: Final = "(What was said before is not in the recording.)"

SIGNATURES: Final = "Signatures of thinking, which only its own model takes, are left out"
IMAGES: Final = "Images whose bytes are not there, or which no provider takes, are left out"
SUMMARIES: Final = "Summaries that the agent wrote of itself are kept, as is what they tell of"

_PIECE = 1024 * 1024


def read_recording(
    source: Path | bytes,
    format_name: str,
    name: str,
    now: Millis,
    check: Callable[[], None] = lambda: None,
) -> Recording:
    """Ids begin with `name`; no time is after `now`. Blocks.

    `check` is called often. Raises BadRequest for an unknown format or too much, OSError.
    """
    if isinstance(source, bytes):
        with tempfile.TemporaryDirectory(prefix="sidecar-import-") as folder:
            path = Path(folder) / "content"
            path.write_bytes(source)
            return _read(path, format_name, _Taking(name, now, check), "the content")
    return _read(source, format_name, _Taking(name, now, check), str(source))


def _read(path: Path, format_name: str, taking: "_Taking", called: str) -> Recording:
    _check_size(path, called, taking.check)
    try:
        transcript = open_transcript(path, format_name, taking.line)
    except BadRequest as error:
        message = error.message.replace(str(path), called)
        raise BadRequest(message, "params.path") from error
    for entry in transcript.entries:
        match entry:
            case DamagedLine(line=line, why=why):
                taking.skip(f"line {line}: {why}")
            case Compacted(at=at, summary=summary):
                # What the other agent dropped then is in the recording, and so it is here.
                taking.note(summary, at)
            case Message():
                taking.take(entry)
    if not taking.messages:
        raise BadRequest(f"{called} holds no messages that can be read", "params.path")
    bill = read_bill(path) or bill_of(taking.messages)
    return Recording(
        transcript.format,
        transcript.title,
        tuple(taking.messages),
        tuple(taking.skipped),
        tuple(bill),
        {what: number for what, number in taking.dropped.items() if number},
    )


def _check_size(path: Path, called: str, check: Callable[[], None]) -> None:
    with path.open("rb") as file:
        first = file.read(len(SQLITE))
        if first == SQLITE:
            raise BadRequest(
                f"{called} is a store with sessions in it: write one of them out with "
                "`sidecar export`, then import that",
                "params.path",
            )
        file.seek(0)
        total = 0
        try:
            with gzip.open(file) if first.startswith(GZIP) else nullcontext(file) as unpacked:
                while piece := unpacked.read(_PIECE):
                    check()
                    total += len(piece)
                    if total > MOST_BYTES:
                        raise _too_large(called)
        except (EOFError, zlib.error, gzip.BadGzipFile):
            # The importer tells of it, and gives what comes before.
            return


def _too_large(called: str) -> BadRequest:
    return BadRequest(
        f"{called} cannot be imported: it holds more than {MOST_BYTES >> 20} MiB or "
        f"{MOST_MESSAGES} messages, which is more than is taken",
        "params.path",
    )


@dataclass(slots=True)
class _Taking:
    """Gives messages new ids, since recordings' repeat between sessions."""

    name: str
    now: Millis
    check: Callable[[], None]
    messages: list[Message] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    _parts: int = 0
    _calls: set[str] = field(default_factory=set)
    _bytes: int = 0
    _lines: int = 0

    def line(self) -> None:
        self.check()
        self._lines += 1
        if self._lines > MOST_LINES:
            raise BadRequest(
                f"this recording has more than {MOST_LINES} lines, which is more than is taken",
                "params.path",
            )

    def skip(self, why: str) -> None:
        if len(self.skipped) == MOST_SKIPPED:
            raise BadRequest(
                f"more than {MOST_SKIPPED} lines cannot be read, the last one {why}: this is no "
                "recording of a session, or a badly damaged one",
                "params.path",
            )
        self.skipped.append(why)

    def take(self, message: Message) -> None:
        if message.status == "discarded" or not is_settled(message):
            return
        parts = tuple(self._kept(message.parts))
        if not parts:
            return
        if not self.messages and message.role == "assistant":
            said = TextPart(self._part_id(), BEGINNING, "context")
            self._add(replace(message, role="user", parts=(said,), model=""))
        self._add(replace(message, parts=parts))

    def note(self, summary: str, at: Millis) -> None:
        if summary.strip() and self.messages:
            self.dropped[SUMMARIES] += 1
            said = TextPart(self._part_id(), RECORDED_SUMMARY + summary.strip(), "context")
            last = self.messages[-1]
            turn = TurnId(last.turn_id.removeprefix(f"turn_{self.name}"))
            self._add(Message(last.id, turn, "user", (said,), at or last.created))

    def _add(self, message: Message) -> None:
        self._bytes += weight(message)
        if len(self.messages) == MOST_MESSAGES or self._bytes > MOST_BYTES:
            raise _too_large("this recording")
        number = len(self.messages) + 1
        self.messages.append(
            replace(
                message,
                id=MessageId(f"msg_{self.name}n{number:06d}"),
                turn_id=TurnId(f"turn_{self.name}{plain(message.turn_id)}"),
                created=min(max(message.created, 0), self.now),
            )
        )

    def _part_id(self) -> PartId:
        self._parts += 1
        return PartId(f"part_{self.name}n{self._parts:06d}")

    def _kept(self, parts: Iterable[Part]) -> Iterator[Part]:
        for part in parts:
            kept = self._part(part)
            if kept is not None:
                yield replace(kept, id=self._part_id())

    def _part(self, part: Part) -> Part | None:
        match part:
            case ReasoningPart(text=text, metadata=metadata):
                self.dropped[SIGNATURES] += bool(metadata)
                return replace(part, metadata={}) if text.strip() else None
            case TextPart(text=text):
                return replace(part, metadata={}) if text.strip() else None
            case FilePart(media=Media() as media) if not _can_be_sent(media):
                self.dropped[IMAGES] += 1
                return TextPart(part.id, f"[{media.media_type}: {part.uri or 'left out'}]", "typed")
            case ToolPart():
                return self._call(part)
            case OpaquePart() | PatchPart():
                return None
            case _:
                return part

    def _call(self, part: ToolPart) -> ToolPart:
        call_id = part.call_id
        if not is_id(call_id) or call_id in self._calls:
            call_id = f"call_{self.name}n{self._parts:06d}"
        self._calls.add(call_id)
        name, given = tool_name(part.name), tool_input(part.input)
        called = replace(part, call_id=call_id, name=name, input=given, metadata={})
        match part.state:
            case ToolCompleted(output=output) as state:
                media = tuple(one for one in output.media if _can_be_sent(one))
                self.dropped[IMAGES] += len(output.media) - len(media)
                kept = replace(output, media=media, whole=None)
                return replace(called, state=replace(state, output=kept))
            case ToolError(output=output) as state if output is not None:
                kept = replace(output, media=(), whole=None)
                return replace(called, state=replace(state, output=kept))
            case _:
                return called


def _can_be_sent(media: Media) -> bool:
    if media.media_type not in MEDIA_TYPES or len(media.data) > MOST_MEDIA:
        return False
    return base64_of(media.data) == media.data

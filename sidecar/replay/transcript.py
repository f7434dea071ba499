"""Recorded sessions of any agent as streams of `Message`."""

import re
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field, replace
from datetime import UTC, datetime
from typing import TypeAlias

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import (
    MOST_COUNT,
    FilePart,
    Json,
    JsonObject,
    Media,
    Message,
    MessageId,
    Millis,
    Output,
    Part,
    PartId,
    StepFinishPart,
    TextPart,
    ToolCompleted,
    ToolError,
    ToolPart,
    TurnId,
    Usage,
)

LATEST = 253_402_300_800_000
"""End of the year 9999 in milliseconds."""
_MACHINE_MADE = re.compile(
    r"\s*(?:(?:<(?P<tag>task-notification|system-reminder|ci-monitor-event|turn_aborted|"
    r"environment_context|user-prompt-submit-hook|(?:local-command|command|bash|ide)[-_]\w+)\b"
    r"[^>\n]*>.*?</(?P=tag)>|\[Request interrupted by user[^\]\n]*\])\s*)+",
    re.S,
)
_SLASH_COMMAND = re.compile(
    r"\s*<command-message>[^<]*</command-message>\s*<command-name>\s*([^<]+?)\s*</command-name>\s*"
    r"(?:<command-args>(.*?)</command-args>\s*)?",
    re.S,
)
"""One that a skill answers; with the name first stand those that no model hears of (`/exit`)."""


@dataclass(frozen=True, slots=True)
class DamagedLine:
    """A line skipped as unreadable; `line`: from 1."""

    line: int
    why: str


NO_OPEN_CALL = "a tool's result has no open call"
NO_MODEL = "<synthetic>"
"""The model of an answer that the agent wrote itself."""


def impossible(line: int, error: Exception, where: str = "") -> DamagedLine:
    return DamagedLine(line, f"{where}it holds an impossible value: {error}")


@dataclass(frozen=True, slots=True)
class Compacted:
    """The agent dropped earlier messages; `at`: 0 if unknown; `summary`: the agent's, if any."""

    at: Millis = 0
    summary: str = field(default="", compare=False)


TranscriptEntry: TypeAlias = Message | Compacted | DamagedLine


def read_each(
    lines: Iterable[tuple[int, JsonObject]],
    read: Callable[[int, JsonObject], Iterator[TranscriptEntry | str]],
) -> Iterator[TranscriptEntry]:
    """Strings from `read` describe skipped parts. An impossible value damages its line alone."""
    for number, line in lines:
        try:
            for entry in read(number, line):
                yield DamagedLine(number, entry) if isinstance(entry, str) else entry
        except (ValueError, OverflowError, RecursionError) as error:
            yield impossible(number, error)


@dataclass(frozen=True, slots=True)
class Transcript:
    """A recording; `entries` is lazy, for one pass; names may be empty."""

    format: str
    name: str
    entries: Iterator[TranscriptEntry]
    path: str = ""
    title: str = ""
    cwd: str = ""
    session: str = ""


@dataclass(slots=True)
class TranscriptWriter:
    """Builds messages from any recording.

    An assistant's message waits for its results until the next begins. The same file gives the same
    ids.
    """

    _turn: int = -1
    _count: int = 0
    _last: Millis = 0
    _open: Message | None = None
    _queued: list[Message] = field(default_factory=list)
    _calls: dict[str, int] = field(default_factory=dict)

    def user(self, parts: list[Part], at: Millis, *, typed: bool) -> Iterator[TranscriptEntry]:
        """Adds a user's message unless empty; a typed message opens a turn.

        While calls are open, the message waits. A program's words in the user's name are context; a
        slash command for a skill was typed.
        """
        if not parts:
            return
        commands = [_slash_command(part) for part in parts]
        parts = [command or _by_whom(part) for command, part in zip(commands, parts, strict=True)]
        is_context = all(isinstance(part, TextPart) and part.source == "context" for part in parts)
        typed = any(commands) or (typed and not is_context)
        if not self._calls:
            yield from self.flush()
        if typed or self._turn < 0:
            self._turn += 1
        message = Message(self._id(), self._turn_id(), "user", tuple(parts), at or self._last)
        self._last = at or self._last
        if self._open is None:
            yield message
        else:
            self._queued.append(message)

    def assistant(
        self, parts: list[Part], at: Millis, usage: Usage | None, stop: str, model: str
    ) -> Iterator[TranscriptEntry]:
        yield from self.flush()
        self._turn = max(self._turn, 0)
        finish = StepFinishPart(
            self.part_id(len(parts)), stop, usage or Usage(), None, self._last or at
        )
        self._calls = {p.call_id: i for i, p in enumerate(parts) if isinstance(p, ToolPart)}
        self._open = Message(
            self._id(),
            self._turn_id(),
            "assistant",
            (*parts, finish),
            at or self._last,
            model=model,
        )
        self._last = at or self._last

    def result(
        self,
        call_id: str,
        text: str,
        at: Millis,
        metadata: JsonObject,
        media: Sequence[Media] = (),
    ) -> bool:
        """Returns `False` without an open call of this id."""
        if self._open is None or call_id not in self._calls:
            return False
        position = self._calls.pop(call_id)
        parts = self._open.parts
        call = parts[position]
        assert isinstance(call, ToolPart)
        output = Output(text, media=tuple(media))
        done = ToolCompleted(output, self._open.created, at or self._last, "", metadata)
        answered = replace(call, state=done)
        self._open = replace(
            self._open, parts=(*parts[:position], answered, *parts[position + 1 :])
        )
        self._last = at or self._last
        return True

    def flush(self) -> Iterator[TranscriptEntry]:
        if self._open is not None:
            yield self._open
        yield from self._queued
        self._open = None
        self._queued = []
        self._calls = {}

    def part_id(self, position: int) -> PartId:
        return PartId(f"p{self._count + 1}.{position}")

    def text(self, position: int, text: str, *, by: str) -> TextPart:
        source = "typed" if by == "typed" else "context" if by == "context" else "model"
        return TextPart(self.part_id(position), text, source)  # type: ignore[arg-type]

    def said(self, blocks: Sequence[JsonObject], *, by: str) -> list[Part]:
        parts: list[Part] = []
        for block in blocks:
            if media := media_of(block):
                parts.append(FilePart(self.part_id(len(parts)), "", media=media))
            elif text := text_of(block) or _word_for(block):
                parts.append(self.text(len(parts), text, by=by))
        return parts

    def call(self, position: int, call_id: str, name: str, given: Json, at: Millis) -> ToolPart:
        state = ToolError("no result was recorded", "interrupted", at, at)
        return ToolPart(self.part_id(position), call_id, name, given, state)

    def _id(self) -> MessageId:
        self._count += 1
        return MessageId(f"m{self._count}")

    def _turn_id(self) -> TurnId:
        return TurnId(f"t{self._turn}")


def is_machine_made(text: str) -> bool:
    return _MACHINE_MADE.fullmatch(text) is not None


def _slash_command(part: Part) -> TextPart | None:
    found = _SLASH_COMMAND.fullmatch(part.text) if isinstance(part, TextPart) else None
    if found is None:
        return None
    name, words = found[1].strip("/"), (found[2] or "").strip()
    return TextPart(part.id, f"/{name} {words}".rstrip(), "typed")


def _by_whom(part: Part) -> Part:
    if isinstance(part, TextPart) and part.source == "typed" and is_machine_made(part.text):
        return replace(part, source="context")
    return part


def millis(value: object) -> Millis:
    """Reads ISO 8601, seconds or milliseconds; returns 0 for other values.

    Raises ValueError beyond any calendar.
    """
    if isinstance(value, bool):
        return 0
    if isinstance(value, int | float):
        at = value if value > 1e11 else value * 1000
        if not -LATEST < at < LATEST:
            raise ValueError("a number is no time")
        return max(0, round(at))
    if not isinstance(value, str) or not value:
        return 0
    try:
        parsed = datetime.fromisoformat(value)
    except ValueError:
        return 0
    zoned = parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
    return max(0, round(zoned.timestamp() * 1000))


def text_of(value: object) -> str:
    """Returns a text, or a list's text blocks; "" for other values."""
    match value:
        case str():
            return value
        case list():
            return "\n".join(text for item in value if (text := _block_text(item)))
        case _:
            return _block_text(value)


def _word_for(block: JsonObject) -> str:
    kind = block.get("type")
    return f"[{kind}]" if isinstance(kind, str) and "text" not in block else ""


def _block_text(value: object) -> str:
    match value:
        case str():
            return value
        case {"text": str(text)}:
            return text
        case _:
            return ""


def media_of(block: JsonObject) -> Media | None:
    """Returns `None` without bytes."""
    match block:
        case {"source": {"media_type": str(kind), "data": str(data)}}:
            pass
        case {"mimeType": str(kind), "data": str(data)}:
            pass
        case {"image_url": str(url)} | {"url": str(url)}:
            head, _, data = url.partition(",")
            kind = head.removeprefix("data:").removesuffix(";base64")
            if head != f"data:{kind};base64":
                return None
        case _:
            return None
    return Media(kind, data) if data and _is_base64(data) else None


def _is_base64(data: str) -> bool:
    # The beginning is enough: recordings are full of images, and replay reads no more.
    try:
        b64decode(data[:400], validate=True)
    except ValueError:
        return False
    return len(data) % 4 == 0


def media_in(value: object) -> tuple[Media, ...]:
    return tuple(media for block in objects(value) if (media := media_of(block)))


def objects(value: object) -> list[JsonObject]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def count(value: object) -> int:
    """Returns 0 for other values; raises ValueError if too large."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    if not -MOST_COUNT < value < MOST_COUNT:
        raise ValueError("a number is no count")
    return max(0, int(value))

"""A session as lines of JSON, for another store.

First `{"sidecar":"bundle","version":1,…}`, last `{"end":{"lines","hash"}}`, with chained hashes.
Between, a line each: a `session`, `message`, `part` (of the message before), `record`, `fact`,
`gone` (a removed output), or piece of an `output` or, in version 2, of what a `file` held. Checks
form, not meaning.
"""

import json
import math
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace

from sidecar.core.conversation import fact as facts
from sidecar.core.conversation.fact import Fact
from sidecar.core.dataclass import dataclass
from sidecar.core.errors import BadRequest
from sidecar.core.parts import Message, Millis, Part
from sidecar.core.text.digest import digest
from sidecar.core.text.json_text import DEEPEST, check_inner
from sidecar.store.format import rows
from sidecar.store.format.fields import BodyBroken, Fields, fields_of
from sidecar.store.format.packing import Plain, decode_text, encode_text
from sidecar.store.format.values import REASONS, Gone, Record, SessionRow

VERSION = 1
WITH_FILES = 2
"""The version of those that have contents of files."""
HEAD = b'{"sidecar":"bundle",'
"""The beginning of every bundle, in all versions."""
PIECE = 1024 * 1024
"""Characters of an output per line."""
MOST_BYTES = 256 * 1024 * 1024
"""Of a bundle or another agent's recording, unpacked."""
MOST_LINES = 500_000
"""Of either; most lines of a recording hold nothing to keep."""
MOST_VALUES = 3_000_000
"""Values in all JSON of tool inputs, records and the like."""
LATEST: Millis = 253_402_300_799_999
"""End of the year 9999."""
_DIGITS = 18


@dataclass(frozen=True, slots=True)
class Bundle:
    """A session; `outputs` and removed ones (`gone`) are by hash.

    `redacted`: number of likely keys removed. `files`: what files held, by hash; `None`: nothing
    is said of that.
    """

    session: SessionRow
    messages: tuple[Message, ...]
    records: tuple[Record, ...]
    outputs: Mapping[str, bytes] = field(default_factory=dict)
    facts: tuple[Fact, ...] = ()
    made: Millis = 0
    redacted: int = 0
    gone: Mapping[str, Gone] = field(default_factory=dict)
    files: Mapping[str, bytes] | None = None


def lines_of(bundle: Bundle) -> Iterator[bytes]:
    count, hashed = 0, ""
    for line in map(_line, _things(bundle)):
        yield line
        count, hashed = count + 1, digest(line, hashed)
    yield _line({"end": {"lines": count, "hash": hashed}})


def read_lines(lines: Iterable[bytes]) -> Bundle:
    """Raises BadRequest if damaged, cut off or too new."""
    reader = _Reader()
    try:
        for line in lines:
            reader.take(line)
        return reader.bundle()
    except (BodyBroken, UnicodeError) as error:
        raise BadRequest(
            f"line {reader.count + 1} of this bundle is damaged ({error}): export the session "
            "again, or copy the file again",
            "params.path",
        ) from error


def _things(bundle: Bundle) -> Iterator[dict[str, object]]:
    yield {
        "sidecar": "bundle",
        "version": VERSION if bundle.files is None else WITH_FILES,
        "made": bundle.made,
        "redacted": bundle.redacted,
        "leftOut": ["snapshots"] if bundle.files is None else [],
    }
    yield _of("session", rows.session_fields(bundle.session))
    for message in bundle.messages:
        yield _of("message", rows.message_fields(message))
        yield from (_of("part", rows.part_fields(part)) for part in message.parts)
    yield from (_of("record", rows.record_fields(record)) for record in bundle.records)
    yield from (_of("fact", facts.to_json(fact)) for fact in bundle.facts)
    for name, what in bundle.gone.items():
        yield _of("gone", {"hash": name, "at": what.at, "why": what.why, "bound": what.bound})
    for name, data in bundle.outputs.items():
        yield from (_of("output", piece) for piece in _pieces(name, data))
    for name, data in (bundle.files or {}).items():
        yield from (_of("file", piece) for piece in _pieces(name, data))


def _of(kind: str, fields: object) -> dict[str, object]:
    return {kind: fields}


def _pieces(name: str, data: bytes) -> Iterator[dict[str, Plain]]:
    try:
        key, whole = "text", decode_text(data)
    except BodyBroken:
        key, whole = "base64", b64encode(data).decode("ascii")
    for start in range(0, max(1, len(whole)), PIECE):
        yield {"hash": name, key: whole[start : start + PIECE]}


def _line(thing: dict[str, object]) -> bytes:
    # Minimal escapes: two escaped lone surrogates would come back joined.
    return encode_text(json.dumps(thing, ensure_ascii=False, separators=(",", ":"))) + b"\n"


@dataclass(slots=True)
class _Reader:
    count: int = 0
    _hash: str = ""
    _head: Fields | None = None
    _session: SessionRow | None = None
    _messages: list[tuple[Message, list[Part]]] = field(default_factory=list)
    _records: list[Record] = field(default_factory=list)
    _facts: list[Fact] = field(default_factory=list)
    _outputs: dict[str, list[bytes]] = field(default_factory=dict)
    _gone: dict[str, Gone] = field(default_factory=dict)
    _files: dict[str, list[bytes]] = field(default_factory=dict)
    _ids: set[str] = field(default_factory=set)
    _values: int = 0
    _ended: bool = False

    def take(self, line: bytes) -> None:
        if self._ended:
            raise BodyBroken("something follows the end")
        if self.count == MOST_LINES:
            raise BadRequest(
                f"this bundle has more than {MOST_LINES} lines, which is more than are taken: "
                "fork the session at an earlier message and export that",
                "params.path",
            )
        thing = _parsed(line)
        if self._head is None:
            self._begin(thing)
        else:
            self._next(thing)
        if not self._ended:
            self.count, self._hash = self.count + 1, digest(line, self._hash)

    def bundle(self) -> Bundle:
        if not self._ended or self._session is None or self._head is None:
            raise BadRequest(
                "this bundle is cut off: copy the file again, or export the session again",
                "params.path",
            )
        outputs = {name: b"".join(pieces) for name, pieces in self._outputs.items()}
        files = {name: b"".join(pieces) for name, pieces in self._files.items()}
        if any(digest(data) != name for name, data in (*outputs.items(), *files.items())):
            raise BodyBroken("a content has not the hash that it is kept under")
        messages = tuple(replace(m, parts=tuple(parts)) for m, parts in self._messages)
        named = {rows.whole_output(part) for message in messages for part in message.parts}
        if named - {None} != outputs.keys() | self._gone.keys():
            raise BodyBroken("its outputs are not those that its parts name")
        return Bundle(
            self._session,
            messages,
            tuple(self._records),
            outputs,
            tuple(self._facts),
            _time(self._head.number("made", 0)),
            max(0, self._head.number("redacted", 0)),
            self._gone,
            files if self._has_files else None,
        )

    @property
    def _has_files(self) -> bool:
        return self._head is not None and self._head.number("version") == WITH_FILES

    def _begin(self, thing: Fields) -> None:
        if thing.content.get("sidecar") != "bundle":
            raise BadRequest(
                "this is no bundle of Sidecar. If it is another agent's recording, unpack it "
                "first, with `zstd -d`",
                "params.path",
            )
        if thing.number("version") not in (VERSION, WITH_FILES):
            raise BadRequest(
                f"this bundle has version {thing.number('version')}, and this Sidecar reads "
                f"versions up to {WITH_FILES}: update Sidecar, then import it",
                "params.path",
            )
        self._head = thing

    def _next(self, thing: Fields) -> None:
        if len(thing.content) != 1:
            raise BodyBroken("expected one thing")
        (kind,) = thing.content
        given = thing.inner(kind)
        match kind:
            case "session" if self._session is None:
                self._session = rows.read_session(given)
                self._weigh(self._session.settings)
            case "message":
                message = rows.read_message(given)
                _time(message.created)
                self._once(f"message {message.id}")
                self._messages.append((message, []))
            case "part" if self._messages:
                part = rows.read_part(given)
                self._once(f"part {part.id}")
                self._weigh(part)
                self._messages[-1][1].append(part)
            case "record":
                self._record(rows.read_record(given))
            case "fact":
                self._facts.append(_read_fact(given))
            case "gone":
                why, bound = given.choice("why", REASONS), max(0, given.number("bound"))
                self._gone[given.text("hash")] = Gone(_time(given.number("at")), why, bound)
            case "output":
                self._outputs.setdefault(given.text("hash"), []).append(_piece(given))
            case "file" if self._has_files:
                self._files.setdefault(given.text("hash"), []).append(_piece(given))
            case "end":
                self._end(given)
            case _:
                raise BodyBroken(f"there is no {kind!r:.40} here")

    def _record(self, record: Record) -> None:
        last = self._records[-1].revision if self._records else 0
        if not last < record.revision < 2**53:
            raise BodyBroken("a record's revision does not follow that of the record before")
        _time(record.at)
        self._weigh(record.body)
        self._records.append(record)

    def _end(self, given: Fields) -> None:
        if (given.number("lines"), given.text("hash")) != (self.count, self._hash):
            raise BadRequest(
                "this bundle was changed after it was written, or is damaged: what it holds has "
                "not the hash at its end. Export the session again, or copy the file again",
                "params.path",
            )
        self._ended = True

    def _once(self, name: str) -> None:
        if name in self._ids:
            raise BodyBroken(f"there are two of {name!r:.80}")
        self._ids.add(name)

    def _weigh(self, value: object) -> None:
        # Too many or too deep values would harm readers.
        level, depth = [value], 0
        while level:
            self._values += len(level)
            if depth > DEEPEST or self._values > MOST_VALUES:
                what = "nested too deep" if depth > DEEPEST else "more values than are taken"
                raise BodyBroken(what)
            if any(isinstance(one, float) and not math.isfinite(one) for one in level):
                raise BodyBroken("a number is none that JSON can say")
            level, depth = [inner for one in level for inner in _inside(one)], depth + 1


def _inside(value: object) -> Iterable[object]:
    match value:
        case dict():
            return value.values()
        case list() | tuple():
            return value
        case _:
            # A dataclass of Sidecar's own; all are slotted.
            return [getattr(value, name) for name in getattr(value, "__slots__", ())]


def _parsed(line: bytes) -> Fields:
    text = decode_text(line)
    if not text.endswith("\n"):
        raise BodyBroken("it has no end")
    try:
        check_inner(text)
        return fields_of(json.loads(text, parse_int=_whole, parse_constant=_no_number))
    except (ValueError, RecursionError) as error:
        raise BodyBroken(f"not JSON: {error}") from error


def _whole(digits: str) -> int:
    if len(digits) > _DIGITS:
        raise ValueError("a number is too large")
    return int(digits)


def _no_number(name: str) -> object:
    raise ValueError(f"{name} is no number")


def _time(at: Millis) -> Millis:
    if not 0 <= at <= LATEST:
        raise BodyBroken("a time is none")
    return at


def _read_fact(given: Fields) -> Fact:
    try:
        fact = facts.from_json(given.content)
    except ValueError as error:
        raise BodyBroken(str(error)) from error
    _time(fact.at)
    return fact


def _piece(given: Fields) -> bytes:
    if "text" in given.content:
        return encode_text(given.text("text"))
    try:
        return b64decode(given.text("base64"), validate=True)
    except ValueError as error:
        raise BodyBroken(f"an output is not base64: {error}") from error

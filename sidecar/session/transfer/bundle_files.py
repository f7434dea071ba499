"""What files held, as a bundle carries it where that is asked for: contents by hash.

Numbers of snapshots belong to one store and are left out. Without its content an entry is
`withheld`: a likely key is in it, it is too large, or it may not be taken from elsewhere.
"""

import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import field, replace
from secrets import token_hex
from typing import TypeAlias, cast, get_args

from msgspec import structs

from sidecar.core.dataclass import dataclass
from sidecar.core.files.changeset import Author, PathChangeKind
from sidecar.core.files.tree import MIB, Loss
from sidecar.core.parts import Json, JsonObject, Message, Part, PatchPart
from sidecar.core.text.digest import digest
from sidecar.core.text.redaction import Redaction
from sidecar.core.text.visible import plain_path
from sidecar.store.format.record_codec import LogRecord
from sidecar.store.format.rows import KEPT
from sidecar.store.format.values import Record
from sidecar.store.format.view_records import (
    FilesRestoredRecord,
    ReachedRecord,
    TalkRestoredRecord,
)
from sidecar.store.journal import Store
from sidecar.tools.rules.runs_later import runs_later
from sidecar.workspace.snapshots.ignore import HISTORIES

MOST_FILE = 8 * MIB
MOST_FILES = 64 * MIB
"""Bytes of one content, and of all contents of a session."""
AT_ONCE = 64
LONGEST = 4096
_SETS = ("restored",)
_HISTORIES = frozenset(os.fsdecode(name) for name in HISTORIES)

Entry: TypeAlias = tuple[int, str, int, Loss | None, int]
"""As `change_records` writes one."""


async def held_contents(
    store: Store,
    messages: Iterable[Message],
    records: Iterable[Record],
    known: Mapping[str, bytes],
) -> dict[str, bytes]:
    """Reads what patches and restores name, the newest first, as far as there is room.

    `known` contents take room, and are not read.
    """
    found: dict[str, bytes] = {}
    room = MOST_FILES - sum(map(len, known.values()))
    wanted: list[str] = []
    for name, size in _named(messages, records).items():
        if name not in known and size <= min(MOST_FILE, room):
            room -= size
            wanted.append(name)
    for start in range(0, len(wanted), AT_ONCE):
        found |= await store.logs.contents(wanted[start : start + AT_ONCE])
    return found


def without_keys(contents: Mapping[str, bytes], redaction: Redaction) -> dict[str, bytes]:
    """Leaves out contents with likely keys, whole: a file with a hole is none."""

    def is_clean(data: bytes) -> bool:
        looking = Redaction(redaction.known)
        # UTF-16, as PowerShell writes, is ASCII with zeros between.
        for one in {data, data.replace(b"\0", b"")}:
            looking.text(one.decode("utf-8", "replace"))
        return not looking.count

    return {name: data for name, data in contents.items() if is_clean(data)}


def leaving(contents: Collection[str]) -> Callable[[Entry], Entry]:
    """Gives entries as they leave, with `contents` alone."""
    salt = token_hex()

    def entry(one: Entry) -> Entry:
        mode, name, size, lost, version = one
        if lost or not name or name in contents:
            return one
        # Contents are told apart, and not recognised.
        mark = int(digest(f"{salt}{name}".encode())[-12:], 16)
        return mode, "", size, "withheld", version or mark

    return entry


def with_entries(entry: Callable[[Entry], Entry], part: Part) -> Part:
    if not isinstance(part, PatchPart) or not part.detail:
        return part
    return replace(part, detail={"at": 0, "sets": _changed(part.detail.get("sets", []), entry)})


def with_records(entry: Callable[[Entry], Entry], record: LogRecord) -> LogRecord:
    match record:
        case FilesRestoredRecord(sets=sets) | TalkRestoredRecord(sets=sets):
            return structs.replace(record, sets=_changed(sets, entry))
        case ReachedRecord():
            return structs.replace(record, snapshot=None, sets=[])
        case _:
            return record


def withheld_in(messages: Iterable[Message]) -> int:
    """Counts contents that did not go along."""
    found: set[Entry] = set()

    def note(one: Entry) -> Entry:
        if one[3] == "withheld":
            found.add(one)
        return one

    for message in messages:
        for part in message.parts:
            with_entries(note, part)
    return len(found)


@dataclass(slots=True)
class Arriving:
    """Checks what a bundle says of files, and takes what may be written here.

    What runs later, links, and contents that are not in the bundle cannot be brought back. Raises
    ValueError for what no Sidecar wrote. `left` are paths that stay out.
    """

    contents: Mapping[str, bytes]
    used: set[str] = field(default_factory=set)
    left: set[str] = field(default_factory=set)

    def part(self, part: Part) -> Part:
        if not isinstance(part, PatchPart) or not part.detail:
            return part
        before = set(self.used)
        self.used.clear()
        sets = self.sets(part.detail.get("sets"))
        kept: list[Json] = [*sorted(self.used)]
        detail: JsonObject = {"at": 0, "sets": sets, KEPT: kept}
        self.used |= before
        return replace(part, detail=detail)

    def record(self, record: LogRecord) -> LogRecord:
        match record:
            case FilesRestoredRecord(sets=sets) | TalkRestoredRecord(sets=sets):
                return structs.replace(record, sets=self.sets(sets))
            case ReachedRecord():
                return structs.replace(record, snapshot=None, sets=[])
            case _:
                return record

    def held(self, messages: tuple[Message, ...]) -> tuple[tuple[Message, ...], dict[str, bytes]]:
        """Gives the contents that are used; the last patch keeps those that restores alone name."""
        kept = {name: self.contents[name] for name in sorted(self.used)}
        for at in range(len(messages) - 1, -1, -1):
            parts = messages[at].parts
            for n, part in enumerate(parts):
                if isinstance(part, PatchPart) and KEPT in part.detail:
                    names: list[Json] = list(kept)
                    last = replace(part, detail={**part.detail, KEPT: names})
                    told = replace(messages[at], parts=(*parts[:n], last, *parts[n + 1 :]))
                    return (*messages[:at], told, *messages[at + 1 :]), kept
        return messages, {}

    def sets(self, given: Json) -> list[Json]:
        if not isinstance(given, list):
            raise _odd("changes of files are none")
        return [
            {"before": 0, "after": 0, "changes": list(self._changes(_list_in(one, "changes")))}
            for one in given
        ]

    def _changes(self, given: list[Json]) -> Iterator[Json]:
        for one in given:
            if not isinstance(one, dict):
                raise _odd("a change of a file is none")
            paths = [_path(one.get("path")), *([_path(one["source"])] if "source" in one else [])]
            if one.get("change") not in get_args(PathChangeKind):
                raise _odd("a kind of change is none")
            if one.get("author") not in get_args(Author):
                raise _odd("an author of a change is none")
            if any(map(runs_later, paths)):
                self.left |= set(paths)
                continue
            told: JsonObject = {
                "path": paths[0],
                "change": one["change"],
                "author": one["author"],
                "old": self._entry(one.get("old")),
                "new": self._entry(one.get("new")),
            }
            yield told if len(paths) == 1 else {**told, "source": paths[1]}

    def _entry(self, given: Json) -> Json:
        if given is None:
            return None
        mode, name, size, lost, version = _checked(given)
        data = self.contents.get(name)
        if stat.S_ISDIR(mode):
            return [mode, "", size, None, version]
        if lost or data is None or len(data) != size or not stat.S_ISREG(mode):
            mark = version or int(digest(name.encode())[-12:], 16)
            return [mode, "", size, lost or "withheld", mark]
        self.used.add(name)
        return [mode, name, size, None, version]


def _named(messages: Iterable[Message], records: Iterable[Record]) -> dict[str, int]:
    """Sizes of contents by hash, the newest first; those that records name last."""
    found: dict[str, int] = {}

    def note(one: Entry) -> Entry:
        mode, name, size, lost, _ = one
        if name and not lost and not stat.S_ISDIR(mode):
            found.setdefault(name, size)
        return one

    for message in reversed([*messages]):
        for part in message.parts:
            if isinstance(part, PatchPart):
                _changed(part.detail.get("sets", []), note)
    for record in reversed([*records]):
        if record.kind in _SETS:
            _changed(record.body.get("sets", []), note)
    return found


def _changed(sets: Json, entry: Callable[[Entry], Entry]) -> list[Json]:
    def told(one: Json) -> Json:
        return None if one is None else list(entry(cast("Entry", tuple(cast("list[Json]", one)))))

    return [
        {
            "before": 0,
            "after": 0,
            "changes": [
                {**change, "old": told(change["old"]), "new": told(change["new"])}
                for change in cast("list[JsonObject]", one["changes"])
            ],
        }
        for one in cast("list[JsonObject]", sets)
    ]


def _path(given: Json) -> str:
    if not isinstance(given, str) or not 0 < len(given) <= LONGEST or "\0" in given:
        raise _odd("a path is none")
    parts = given.split("/")
    if not {"", ".", ".."}.isdisjoint(parts) or not _HISTORIES.isdisjoint(map(plain_path, parts)):
        raise _odd("a path leads elsewhere")
    # As the file system takes it: a lone surrogate stands for a byte, or for nothing.
    os.fsencode(given)
    return given


def _checked(given: Json) -> Entry:
    match given:
        case [int(mode), str(name), int(size), lost, int(version)] if (
            (lost is None or lost in get_args(Loss))
            and stat.S_IFMT(mode) in (stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK)
            and size >= 0
        ):
            return (
                mode & (stat.S_IFMT(mode) | 0o777),
                name,
                size,
                cast("Loss | None", lost),
                version,
            )
        case _:
            raise _odd("an entry of a file is none")


def _list_in(given: Json, name: str) -> list[Json]:
    found = given.get(name) if isinstance(given, dict) else None
    if not isinstance(found, list):
        raise _odd("changes of files are none")
    return found


def _odd(why: str) -> ValueError:
    return ValueError(why)

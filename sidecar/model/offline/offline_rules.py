"""Rules of the offline model. `then` and line ends separate steps; a step's calls run together."""

import json
import re
from collections.abc import Collection

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Json

MOST_REPEATS = 20


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call that a rule makes of the text."""

    name: str
    input: Json


OfflineStep = tuple[Call, ...]
"""Calls that run together."""

_THEN = re.compile(r"\s*(?:;|,)?\s+(?:and\s+)?then\s+|\n+", re.IGNORECASE)
_QUOTED = r"`([^`]*)`|\"([^\"]*)\"|'([^']*)'"
_REPEAT = re.compile(r"repeat\s+(\d+)\s+times:?\s+(.*)", re.IGNORECASE | re.DOTALL)
_READ = re.compile(r"(?:read|show|open|look at|cat)\s+(?:me\s+)?(?:the\s+)?(?:file\s+)?(.+)", re.I)
_LIST = re.compile(
    r"(?:list|ls)\b(?:\s+(?:the\s+)?(?:files|folder|directory))?(?:\s+(?:in|of)\s+)?(.*)", re.I
)
_SEARCH = re.compile(r"(?:search(?:\s+for)?|find|grep(?:\s+for)?)\s+(.+?)(?:\s+in\s+(\S+))?$", re.I)
_WRITE = re.compile(
    r"(?:create|write|make)\s+(?:a\s+)?(?:file\s+)?(\S+)\s+(?:with|containing)\s+(.+)", re.I | re.S
)
_REPLACE = re.compile(r"replace\s+(.+?)\s+(?:with|by)\s+(.+?)\s+in\s+(\S+)$", re.I | re.S)
_CHANGE = re.compile(
    r"in\s+(\S+?),?\s+(?:change|replace)\s+(.+?)\s+(?:to|with|by)\s+(.+)$", re.I | re.S
)
_RUN = re.compile(r"(?:run|execute)\s+(.+)", re.IGNORECASE | re.DOTALL)
_TODO = re.compile(r"todo:?\s+(.+)", re.IGNORECASE | re.DOTALL)
_RECALL = re.compile(r"recall\s+(\S+)", re.IGNORECASE)
_CALL = re.compile(r"(?:call|use)\s+(.+)", re.IGNORECASE | re.DOTALL)


def plan(text: str, tools: Collection[str]) -> tuple[OfflineStep, ...]:
    steps: list[OfflineStep] = []
    for sentence in _THEN.split(text.strip()):
        repeat = _REPEAT.fullmatch(sentence.strip())
        times = min(MOST_REPEATS, int(repeat[1])) if repeat else 1
        step = _step((repeat[2] if repeat else sentence).strip().rstrip("."), tools)
        steps.extend([step] * times if step else [])
    return tuple(steps)


def _step(sentence: str, tools: Collection[str]) -> OfflineStep:
    for pattern, make in _RULES:
        found = pattern.fullmatch(sentence)
        if found and (step := make(found, tools)):
            return step
    return ()


def _read(found: re.Match[str], _: Collection[str]) -> OfflineStep:
    return tuple(Call("read_file", {"path": path}) for path in _things(found[1]))


def _list(found: re.Match[str], _: Collection[str]) -> OfflineStep:
    where = _bare(found[1])
    return (Call("list_files", {"path": where} if where else {}),)


def _search(found: re.Match[str], _: Collection[str]) -> OfflineStep:
    where: dict[str, Json] = {"path": _bare(found[2])} if found[2] else {}
    return (Call("search", {"pattern": _bare(found[1]), **where}),)


def _write(found: re.Match[str], _: Collection[str]) -> OfflineStep:
    content = _bare(found[2]).replace("\\n", "\n")
    ended = content if content.endswith("\n") else content + "\n"
    return (Call("write_file", {"path": _bare(found[1]), "content": ended}),)


def _replace(found: re.Match[str], _: Collection[str]) -> OfflineStep:
    return (_edit(found[3], found[1], found[2]),)


def _change(found: re.Match[str], _: Collection[str]) -> OfflineStep:
    return (_edit(found[1], found[2], found[3]),)


def _edit(path: str, old: str, new: str) -> Call:
    texts: dict[str, Json] = {"oldText": _bare(old), "newText": _bare(new)}
    return Call("edit_file", {"path": _bare(path).removeprefix("@"), **texts})


def _run(found: re.Match[str], _: Collection[str]) -> OfflineStep:
    return (Call("shell", {"command": _bare(found[1])}),)


def _todo(found: re.Match[str], _: Collection[str]) -> OfflineStep:
    items: list[Json] = [
        {"content": item.strip(), "status": "pending"}
        for item in found[1].split(";")
        if item.strip()
    ]
    return (Call("todo", {"items": items}),)


def _recall(found: re.Match[str], _: Collection[str]) -> OfflineStep:
    return (Call("recall", {"id": _bare(found[1])}),)


def _call(found: re.Match[str], tools: Collection[str]) -> OfflineStep:
    rest = found[1].strip()
    calls: list[Call] = []
    given: Json
    while rest:
        name = re.match(r"`?([\w-]+)`?\s*", rest)
        if name is None or name[1] not in tools:
            return ()
        rest = rest[name.end() :]
        given = {}
        if rest.startswith("{"):
            try:
                given, end = json.JSONDecoder().raw_decode(rest)
            except ValueError:
                return ()
            rest = rest[end:]
        calls.append(Call(name[1], given))
        rest = re.sub(r"^\s*(?:,|and)?\s*", "", rest)
    return tuple(calls)


def _things(text: str) -> list[str]:
    quoted = ["".join(groups) for groups in re.findall(_QUOTED, text)]
    if quoted:
        return quoted
    names = [
        _bare(name).removeprefix("@") for name in re.split(r"\s*,\s*(?:and\s+)?|\s+and\s+", text)
    ]
    return [name for name in names if name and " " not in name]


def _bare(text: str | None) -> str:
    stripped = (text or "").strip()
    found = re.fullmatch(_QUOTED, stripped, re.DOTALL)
    return next((g for g in found.groups() if g is not None), "") if found else stripped


_RULES = (
    (_CALL, _call),
    (_CHANGE, _change),
    (_REPLACE, _replace),
    (_WRITE, _write),
    (_RUN, _run),
    (_TODO, _todo),
    (_RECALL, _recall),
    (_READ, _read),
    (_SEARCH, _search),
    (_LIST, _list),
)

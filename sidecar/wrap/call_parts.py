"""Another agent's calls, as ACP shows them, as parts of our log. Pure."""

from collections.abc import Iterator, Mapping

from sidecar.core.conversation.sendable import plain, tool_name
from sidecar.core.files.authorship import Intent
from sidecar.core.parts import Json, JsonObject
from sidecar.core.text import line_diff
from sidecar.core.text.json_text import to_json

LOOKING = ("read", "search", "think", "fetch", "switch_mode")
"""Kinds of calls that change no file."""
_CHANGING = ("edit", "delete", "move")
_NAMES = {
    "read": "read",
    "edit": "edit",
    "delete": "delete_file",
    "move": "move",
    "search": "search",
    "execute": "bash",
    "think": "think",
    "fetch": "fetch",
}
_COMMANDS = ("command", "cmd", "script")
_FOLDERS = ("cwd", "workdir", "directory", "folder")
_EXIT_CODES = ("exitCode", "exit_code", "exit")
_PATH_WORDS = ("path", "file", "uri")
ENDED = ("completed", "failed", "cancelled")


def merged(before: JsonObject, shown: JsonObject) -> JsonObject:
    """A call with what an update tells anew."""
    return {**before, **{name: value for name, value in shown.items() if value is not None}}


def has_ended(call: JsonObject) -> bool:
    return call.get("status") in ENDED


def kind_of(call: JsonObject) -> str:
    kind = call.get("kind")
    return kind if isinstance(kind, str) else "other"


def name_of(call: JsonObject) -> str:
    """The tool's own name where the agent tells it, else one by its kind."""
    meta = call.get("_meta")
    for about in meta.values() if isinstance(meta, dict) else ():
        if isinstance(about, dict) and isinstance(name := about.get("toolName"), str):
            return tool_name(name)
    title = call.get("title")
    word = title.split()[0] if isinstance(title, str) and title.strip() else ""
    return _NAMES.get(kind_of(call)) or tool_name(plain(word))


def input_of(call: JsonObject) -> JsonObject:
    given = call.get("rawInput")
    if isinstance(given, dict) and given:
        return given
    if kind_of(call) == "execute":
        return {"command": _command(call)}
    made: JsonObject = {} if given in (None, {}) else {"input": given}
    if named := list(paths_of(call)):
        made["path"] = named[0]
    return made or {"title": str(call.get("title") or "")}


def output_of(call: JsonObject, terminals: Mapping[str, str]) -> str:
    """What came of a call: texts, edits as diffs, terminals' outputs, else the raw output."""
    texts = [_shown(one, terminals) for one in _list(call.get("content")) if isinstance(one, dict)]
    said = "\n".join(text for text in texts if text)
    raw = call.get("rawOutput")
    if said or raw is None:
        return said
    if isinstance(raw, dict) and isinstance(text := raw.get("output"), str):
        return text
    return raw if isinstance(raw, str) else to_json(raw)


def exit_code_of(call: JsonObject) -> int | None:
    """A command's, where the agent tells it."""
    raw = call.get("rawOutput")
    found = raw if isinstance(raw, dict) else {}
    inner = found.get("metadata")
    for about in (found, inner if isinstance(inner, dict) else {}):
        for name in _EXIT_CODES:
            code = about.get(name)
            if isinstance(code, int) and not isinstance(code, bool):
                return code
    return None


def paths_of(call: JsonObject) -> Iterator[str]:
    """Paths that a call reports: its edits', its places', its input's."""
    for one in _list(call.get("content")):
        if isinstance(one, dict) and one.get("type") == "diff" and isinstance(one.get("path"), str):
            yield str(one["path"])
    for one in _list(call.get("locations")):
        if isinstance(one, dict) and isinstance(one.get("path"), str):
            yield str(one["path"])
    given = call.get("rawInput")
    for name, value in given.items() if isinstance(given, dict) else ():
        if isinstance(value, str) and any(word in name.lower() for word in _PATH_WORDS):
            yield value.removeprefix("file://")


def written_paths(call: JsonObject) -> tuple[str, ...]:
    """Paths that a call says it changed; no other path is its work."""
    diffs = any(
        isinstance(one, dict) and one.get("type") == "diff" for one in _list(call.get("content"))
    )
    changes = diffs or kind_of(call) in _CHANGING
    return tuple(dict.fromkeys(paths_of(call))) if changes else ()


def intent_of(call: JsonObject, cwd: str) -> Intent | None:
    """What else a call may have changed; `None` for one that changes nothing else."""
    kind, given = kind_of(call), call.get("rawInput")
    if kind in LOOKING or (written_paths(call) and kind != "execute"):
        return None
    values = given.values() if isinstance(given, dict) else ()
    if kind == "execute":
        found = given if isinstance(given, dict) else {}
        folders = (str(found[name]) for name in _FOLDERS if isinstance(found.get(name), str))
        folder = next(folders, cwd)
        return Intent(command=_command(call), folder=folder if folder.startswith("/") else cwd)
    # An edit that names no path accounts for all changes.
    names = tuple(value.removeprefix("file://") for value in values if isinstance(value, str))
    return Intent(folder=cwd, names=names, edits=kind in _CHANGING)


def _command(call: JsonObject) -> str:
    given = call.get("rawInput")
    for name in _COMMANDS:
        match given.get(name) if isinstance(given, dict) else None:
            case str(command):
                return command
            case list(words):
                shell = len(words) == 3 and str(words[1]) in ("-c", "-lc")
                return str(words[2]) if shell else " ".join(map(str, words))
            case _:
                pass
    title = call.get("title")
    return title.strip("`") if isinstance(title, str) else ""


def _shown(content: JsonObject, terminals: Mapping[str, str]) -> str:
    inner = content.get("content")
    match content.get("type"):
        case "content" if isinstance(inner, dict):
            text = inner.get("text")
            return text if isinstance(text, str) else f"[{inner.get('type')}]"
        case "diff":
            old, new = (content.get(name) for name in ("oldText", "newText"))
            before, after = (
                text.encode("utf-8", "surrogatepass") if isinstance(text, str) else None
                for text in (old, new)
            )
            return _diff(str(content.get("path")), before, after)
        case "terminal":
            name = str(content.get("terminalId"))
            return terminals.get(name, f"[terminal {name}]")
        case _:
            return ""


def _diff(path: str, before: bytes | None, after: bytes | None) -> str:
    shown = line_diff.unified(path.lstrip("/"), before, after).diff
    return f"{path}\n{shown}"


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []

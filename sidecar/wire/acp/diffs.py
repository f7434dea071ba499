"""Shows a tool call's changes as ACP's `diff` content, one per hunk."""

from pathlib import Path

from sidecar.core.parts import Json, JsonObject


def wanted(given: Json, folder: str) -> list[Json]:
    match given:
        case {"path": str(path), "oldText": str(old), "newText": str(new)}:
            return [_diff(path, folder, old, new)]
        case _:
            return []


def done(metadata: JsonObject, folder: str) -> list[Json]:
    path, text = metadata.get("path"), metadata.get("diff")
    if not isinstance(path, str) or not isinstance(text, str):
        return []
    hunks = _hunks(text)
    if metadata.get("created") is True:
        return [_diff(path, folder, None, new) for _, new in hunks[:1]]
    return [_diff(path, folder, old, new) for old, new in hunks]


def absolute(path: str, folder: str) -> str:
    return str(Path(folder) / path)


def _diff(path: str, folder: str, old: str | None, new: str) -> JsonObject:
    return {"type": "diff", "path": absolute(path, folder), "oldText": old, "newText": new}


def _hunks(text: str) -> list[tuple[str, str]]:
    hunks: list[tuple[list[str], list[str]]] = []
    for line in text.split("\n"):
        if line.startswith("@@"):
            hunks.append(([], []))
        elif hunks and line[:1] in (" ", "-", "+"):
            old, new = hunks[-1]
            if line[0] != "+":
                old.append(line[1:])
            if line[0] != "-":
                new.append(line[1:])
    return [(_text(old), _text(new)) for old, new in hunks]


def _text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)

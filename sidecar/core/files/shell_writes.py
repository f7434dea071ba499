"""Finds files that a shell command's words write, except temporary ones."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal, TypeAlias

from sidecar.core.late_pattern import late_pattern

Writing: TypeAlias = Literal["created", "edited", "deleted"]
ShellWrite: TypeAlias = tuple[str, Writing]

LONGEST = 100_000
"""Characters of a command that are looked at."""
FILES = 8
"""From so many on, a `sed -i`'s files must look like files."""
_MAY = late_pattern(
    r">|\*\*\* |\b(?:sed|perl|tee|rm|mv|cp|touch|worktree|open|write_text|write_bytes)\b"
)
_HEREDOC = late_pattern(
    r"<<-?[ \t]*(['\"]?)([A-Za-z_]\w*)\1([^\n]*)\n(.*?)(?:\n[ \t]*\2(?=\s|\)|$)|\Z)", re.S
)
_TOKEN = late_pattern(
    r"(?P<into>\d?>>?\|?(?!&)|&>>?)|(?P<end>[;&|()\n]+)|(?P<other>\d?>&[^\s;&|()<>]*|<+&?|#[^\n]*|\\\n)|"
    r"(?P<word>(?:\\.|\$'(?:[^'\\]|\\.)*'|'[^']*'|\"(?:[^\"\\]|\\.)*\"|[^\s'\"\\;&|<>()])+)|\S",
    re.S,
)
_SHELL_READS = late_pattern(
    r"(?:^|[\s/;&|(])(?:(?:ba|z|da|k|fi|pw|power)?sh(?:ell)?|ssh|eval|su)\b[^\n;|]*\Z"
)
"""Before a quote or a here-document: a shell runs what stands there."""
_INTO_SHELL = late_pattern(r"\|\s*(?:ba|z|da|k)?sh\b")
_NO_COMMAND = late_pattern(r"(?<!\S)#[^\n]*|'[^']*'|\"(?:[^\"\\]|\\.)*\"", re.S)
_SEEN = late_pattern(r"\S")
_QUOTED = late_pattern(r"\\(.)|\$?'([^']*)'|\"((?:[^\"\\]|\\.)*)\"", re.S)
_PATCHED = late_pattern(r"^\*\*\* (Add File|Update File|Delete File|Move to): (.+?)\s*$", re.M)
_DIFFED = late_pattern(r"^\+\+\+ (?:b/)?([^\s]+)", re.M)
_SCRIPTED = late_pattern(
    r"\bopen\(\s*['\"]([^'\"\n]+)['\"]\s*,\s*(?:mode\s*=\s*)?['\"][wax]|"
    r"\bPath\(\s*['\"]([^'\"\n]+)['\"]\s*\)\.write_(?:text|bytes)\("
)
_UNKNOWN = late_pattern(r"[$`*?{}\n]|^~?$|[,:]$|^[A-Za-z]:\w")
_BACKUP = late_pattern(r"(?:\.(?:bak|backup|orig|old|saved?)|~)$", re.I)
"""Copies that are put back in place of a file that was there before."""
_TEMPORARY = ("/dev/", "/tmp/", "/private/tmp/", "/var/folders/", "/proc/")


def writes(command: str, folder: str = "") -> tuple[ShellWrite, ...]:
    """Relative paths are below `folder`."""
    if not _MAY.search(command):
        return ()
    text, bodies = split(command)
    if "*** Begin Patch" in command:
        return tuple((joined(folder, path), how) for path, how in patched(command[:LONGEST]))
    found: list[ShellWrite] = []
    for words, targets in simple(text):
        if words[:1] == ["cd"]:
            folder = joined(folder, words[1] if len(words) > 1 else "$HOME")
        found += [(target, "edited") for path in targets if (target := joined(folder, path))]
        found += [(joined(folder, path), how) for path, how in arguments(words) if path]
        script = " ".join(words[1:]) if words and _is_script(words[0]) else ""
        found += _scripted(script, folder)
    for body in bodies:
        found += _scripted(body, folder)
    return tuple(write for write in dict.fromkeys(found) if _is_file(write[0]))


def split(command: str) -> tuple[str, list[str]]:
    bodies: list[str] = []

    def cut(match: re.Match[str]) -> str:
        bodies.append(match[4])
        return match[3] + "\n"

    return _HEREDOC.sub(cut, command[:LONGEST]), bodies


@lru_cache(maxsize=2_048)
def commands_alone(command: str) -> str:
    """Blanks comments, quotes and here-documents with as many `_`, unless a shell runs them."""

    def document(match: re.Match[str]) -> str:
        run = _SHELL_READS.search(_before(match)) or _INTO_SHELL.search(match[3])
        start, end = (at - match.start() for at in match.span(4))
        return match[0] if run else match[0][:start] + _blank(match[4]) + match[0][end:]

    def quoted(match: re.Match[str]) -> str:
        run = "$(" in match[0] or "`" in match[0] or _SHELL_READS.search(_before(match))
        return match[0] if run and match[0][0] != "#" else _blank(match[0])

    return _NO_COMMAND.sub(quoted, _HEREDOC.sub(document, command[:LONGEST]))


def _before(match: re.Match[str]) -> str:
    return match.string[max(0, match.start() - 200) : match.start()]


def _blank(text: str) -> str:
    return _SEEN.sub("_", text)


def patched(patch: str) -> tuple[ShellWrite, ...]:
    """Returns the files of a patch (`*** Update File: …`) or unified diff."""
    found: list[ShellWrite] = []
    last = ""
    for verb, path in _PATCHED.findall(patch):
        match verb:
            case "Add File":
                found.append((path, "created"))
            case "Delete File":
                found.append((path, "deleted"))
            case "Move to":
                found = [write for write in found if write[0] != last]
                found += [(last, "deleted"), (path, "created")]
            case _:
                found.append((path, "edited"))
        last = path
    if not found:
        found = [(path, "edited") for path in _DIFFED.findall(patch) if path != "/dev/null"]
    return tuple(found)


def simple(text: str) -> Iterator[tuple[list[str], list[str]]]:
    return ((words, targets) for words, targets, _ in _ended(text))


def pipelines(text: str) -> Iterator[list[tuple[list[str], list[str]]]]:
    joined_so_far: list[tuple[list[str], list[str]]] = []
    for words, targets, end in _ended(text):
        joined_so_far.append((words, targets))
        if end.strip() not in ("|", "|&"):
            yield joined_so_far
            joined_so_far = []


def _ended(text: str) -> Iterator[tuple[list[str], list[str], str]]:
    words: list[str] = []
    targets: list[str] = []
    into = skip = False
    for match in _TOKEN.finditer(text):
        word = match["word"]
        if match[0] in "'\"":
            # An unclosed quote: the rest cannot be split.
            break
        if word is None:
            if match["end"] is not None:
                yield words, targets, match["end"]
                words, targets = [], []
            into, skip = match["into"] is not None, match["other"] == "<"
        elif into:
            targets.append(_plain(word))
            into = False
        elif skip:
            skip = False
        else:
            words.append(_plain(word))
    yield words, targets, ""


def arguments(words: Sequence[str]) -> list[ShellWrite]:
    if words[:1] == ["git"] and (removed := _removed_worktree(words)):
        return [(path, "deleted") for path in removed]
    while words and (words[0] in ("sudo", "command", "git") or "=" in words[0]):
        if words[0] == "git" and words[1:2] not in (["mv"], ["rm"]):
            return []
        words = words[1:]
    if not words:
        return []
    name, *given = words
    options = [word for word in given if word.startswith("-") and word != "-"]
    plain = [word for word in given if not word.startswith("-")]
    match name.rpartition("/")[2]:
        case "sed" | "perl" if any(re.match(r"-[a-zA-Z]*i|--in-place", word) for word in options):
            return [(path, "edited") for path in _edited_in_place(given)]
        case "tee":
            return [(path, "edited") for path in plain]
        case "touch":
            return [(path, "created") for path in plain]
        case "rm" if "--cached" not in options:
            return [(path, "deleted") for path in plain]
        case "mv" | "cp" as verb if len(plain) > 1:
            *sources, target = plain
            into = target.endswith("/") or len(sources) > 1
            folder = target.rstrip("/")
            gone: list[ShellWrite] = [(p, "deleted") for p in sources] if verb == "mv" else []
            made = [f"{folder}/{p.rpartition('/')[2]}" for p in sources] if into else [target]
            how: Writing = "edited" if not into and _BACKUP.search(sources[0]) else "created"
            return [*gone, *((path, how) for path in made)]
        case _:
            return []


def _removed_worktree(words: Sequence[str]) -> list[str]:
    folder, words = (words[2], words[3:]) if words[1:2] == ["-C"] else ("", words[1:])
    named = words[2:] if list(words[:2]) == ["worktree", "remove"] else ()
    return [joined(folder, path) for path in named if not path.startswith("-")]


def _edited_in_place(given: Sequence[str]) -> list[str]:
    plain: list[str] = []
    scripted = False
    words = iter(given)
    for word in words:
        if re.fullmatch(r"-[a-zA-Z0-9]*[ef]|--expression|--file", word):
            scripted = True
            next(words, None)
        elif word.startswith(("--expression=", "--file=")):
            scripted = True
        elif word and not word.startswith("-"):
            plain.append(word)
    files = plain if scripted else plain[1:]
    # So many bare words are no files: the script has a quote too few.
    return [path for path in files if len(files) < FILES or "." in path or "/" in path]


def _is_script(name: str) -> bool:
    return name.rpartition("/")[2].startswith("python")


def _scripted(text: str, folder: str) -> list[ShellWrite]:
    found = (one or other for one, other in _SCRIPTED.findall(text))
    return [(joined(folder, path), "edited") for path in found]


def _is_file(path: str) -> bool:
    return bool(path) and not _UNKNOWN.search(path) and not path.startswith(_TEMPORARY)


def _plain(word: str) -> str:
    return _QUOTED.sub(lambda m: m[1] or m[2] or re.sub(r"\\(.)", r"\1", m[3] or ""), word)


def joined(folder: str, path: str) -> str:
    whole = (
        path if path.startswith(("/", "~", "$")) or not folder else f"{folder.rstrip('/')}/{path}"
    )
    kept: list[str] = []
    for piece in whole.split("/"):
        if piece == ".." and kept and kept[-1] not in ("", "..", "~"):
            kept.pop()
        elif piece != "." and (piece or not kept):
            kept.append(piece)
    return "/".join(kept)

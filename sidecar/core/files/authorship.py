"""Finds changes stated in a command's words.

Reading files or running other programs states none.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import translate
from itertools import pairwise

from sidecar.core.dataclass import dataclass
from sidecar.core.files.shell_writes import arguments, joined, patched, simple, split
from sidecar.core.files.tree import TreeChange

LONGEST = 10_000
"""Characters searched of a command, with its scripts."""
LONGEST_NAME = 4_096
"""Bytes of a path on Linux; longer texts in a tool's input name no file."""
MOST_CLAIMS = 2_000
MOST_PATTERNS = 10
"""Names taken from one interval's commands, and patterns among them."""

_WRITERS: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(("chmod", "chown", "chgrp", "ln", "truncate", "sponge", "unlink"), ()),
    **dict.fromkeys(("black", "isort", "rustfmt", "stylua", "dos2unix", "unix2dos"), ()),
    "autopep8": ("-i", "--in-place"),
    "biome": ("--write", "--apply", "--fix"),
    "clang-format": ("-i",),
    "eslint": ("--fix",),
    "gofmt": ("-w",),
    "goimports": ("-w",),
    "perl": ("-i", "-pi"),
    "prettier": ("--write", "-w"),
    "ruff": ("format", "--fix"),
    "sed": ("-i", "-Ei", "-ri", "--in-place"),
    "shfmt": ("-w",),
    "stylelint": ("--fix",),
    "yq": ("-i", "--inplace"),
}
"""Programs that write their arguments, and the options that make them write."""
_HANDED = {"rm", "tee", "touch", "mv", "cp"}
"""Writers whose arguments are told apart elsewhere."""
_ONLY_LOOKING = {"--check", "--diff", "--dry-run", "--check-only"}
_DEPENDENCIES: Mapping[str, Sequence[str]] = {
    "npm": ("package.json", "package-lock.json"),
    "pnpm": ("package.json", "pnpm-lock.yaml"),
    "yarn": ("package.json", "yarn.lock"),
    "bun": ("package.json", "bun.lock"),
    "uv": ("pyproject.toml", "uv.lock"),
    "poetry": ("pyproject.toml", "poetry.lock"),
    "cargo": ("Cargo.toml", "Cargo.lock"),
    "go": ("go.mod", "go.sum"),
}
_CHANGING = {"add", "install", "i", "remove", "uninstall", "rm", "update", "upgrade", "get", "mod"}
_BEFORE = {"sudo", "command", "time", "nice", "nohup", "exec", "env", "do", "then", "else", "{"}
_BEFORE |= {"npx", "uvx", "bunx"}
_RUNNING = {"uv run", "poetry run", "pnpm exec", "npm exec", "bundle exec"}
_RUNNING |= {"python -m", "python3 -m"}
_SHELLS = {"bash", "sh", "zsh", "dash"}
_PATCHING = {"patch", "git", "apply_patch"}
_NAMING = {"find", "fd", "ls", "git", "grep", "rg", "echo", "printf", "cat", "xargs", "for"}
"""Programs that give names to writers."""
_INTERPRETER = re.compile(r"(?:python[\d.]*|node|ruby|perl|php|deno)\Z")
_WRITING_CALL = re.compile(
    r"\bopen\([^()\n]*,\s*(?:mode\s*=\s*)?['\"][rb]*[wax+]|\.write_(?:text|bytes)\(|"
    r"\b(?:writeFile|appendFile|unlink|rename|rm|copyFile)(?:Sync)?\s*\(|\bFile\.write\(|"
    r"\bos\.(?:remove|unlink|rename|replace|chmod)\(|\bshutil\.(?:move|copy\w*|rmtree)\("
)
_LITERAL = re.compile(r"'([^'\s]{1,300})'|\"([^\"\s]{1,300})\"")
_EXPANSION = re.compile(r"\$\{[^}]*\}|\$\(.*\)|\$\w*|\{[^{}]*\}|`[^`]*`?|\\[0-7x]\w*")
_VARIABLE = re.compile(r"\$\{?(\w+)\}?")
_LOOSE = re.compile(r"[*?\[]")
_ANYWHERE = "**/"


@dataclass(frozen=True, slots=True)
class Intent:
    """A call before it runs: a command, or names in a tool's input.

    `folder` is absolute. `edits`: an editing tool, which accounts for every change.
    """

    command: str = ""
    folder: str = ""
    names: tuple[str, ...] = ()
    edits: bool = False


@dataclass(frozen=True, slots=True)
class _Claim:
    """A path or pattern, relative to the root, that a call changes with all below."""

    pattern: str
    deletes: bool


def vouched(calls: Iterable[Intent], root: str) -> Callable[[TreeChange], bool]:
    """Returns a test of whether calls in `root` account for a change."""
    known = list(calls)
    if any(call.edits for call in known):
        return lambda _: True
    claims = [claim for call in known for claim in _claims(call, root.rstrip("/"))][:MOST_CLAIMS]
    writing = _covering([claim.pattern for claim in claims if not claim.deletes])
    removing = _covering([claim.pattern for claim in claims])

    def covers(change: TreeChange) -> bool:
        path = change.path.decode("utf-8", "surrogateescape")
        return removing(path) if change.new is None else writing(path)

    return covers


def _covering(patterns: Sequence[str]) -> Callable[[str], bool]:
    exact = {pattern for pattern in patterns if not _LOOSE.search(pattern)}
    loose = [_matcher(pattern) for pattern in dict.fromkeys(patterns) if pattern not in exact]
    del loose[MOST_PATTERNS:]

    def covers(path: str) -> bool:
        at = -1
        while exact and (at := path.find("/", at + 1)) > 0:
            if path[:at] in exact:
                return True
        pieces = path.split("/")
        return path in exact or any(matches(pieces) for matches in loose)

    return covers


def _matcher(pattern: str) -> Callable[[Sequence[str]], bool]:
    folder, anywhere, name = pattern.rpartition(_ANYWHERE)
    names = folder.split("/") if folder.strip("/") else [] if anywhere else pattern.split("/")
    head = [re.compile(translate(piece)).match for piece in names if piece]
    last = re.compile(translate(name)).match if anywhere else None

    def matches(pieces: Sequence[str]) -> bool:
        known = zip(head, pieces, strict=False)
        if len(pieces) < len(head) or not all(fits(piece) for fits, piece in known):
            return False
        return last is None or any(last(piece) for piece in pieces[len(head) :])

    return matches


def _claims(call: Intent, root: str) -> Iterator[_Claim]:
    folder = call.folder or root
    names = [name for name in call.names if len(name) <= LONGEST_NAME]
    said = [(joined(folder, name), "edited") for name in names]
    for name, how in [*said, *_said(call.command, folder)]:
        path = _EXPANSION.sub("*", name)
        inside = path.startswith(root + "/")
        path = path[len(root) + 1 :].rstrip("/") if inside else ""
        # A pattern matching every path states nothing.
        if path.strip("*/."):
            yield _Claim(path, how == "deleted")


def _said(command: str, folder: str, depth: int = 0) -> Iterator[tuple[str, str]]:
    if not command:
        return
    text, bodies = split(command[:LONGEST])
    commands: list[list[str]] = []
    found: list[tuple[str, str, str]] = []
    place = folder
    for line, into in simple(text):
        words = _program(line)
        commands.append(words)
        if words[:1] == ["cd"] and len(words) > 1:
            place = joined(place, words[1])
        found += [(place, path, "edited") for path in into]
        found += [(place, path, how) for path, how in [*arguments(words), *_arguments(words)]]
    known = _variables(commands)
    for at, name, how in found:
        yield from ((joined(at, one), how) for one in _resolved(name, known))
    yield from _held(commands, bodies, folder, depth)
    if any(map(_handed_on, commands)) or any(_indirect(name, known) for _, name, _ in found):
        # Another command supplies names: any word of both may be a written path.
        giving = (words for words in commands if words and _gives_names(words))
        for word in (word for words in giving for word in words[1:]):
            loose = "*" in word and "/" not in word
            yield joined(folder, _ANYWHERE + word if loose else word), "edited"


def _held(
    commands: Sequence[Sequence[str]], bodies: Iterable[str], folder: str, depth: int
) -> Iterator[tuple[str, str]]:
    for words in commands:
        inline = words[words.index("-c") + 1 :][:1] if "-c" in words else []
        if inline and words[0] in _SHELLS and depth < 1:
            yield from _said(inline[0], folder, depth + 1)
        if words and _INTERPRETER.match(words[0].rpartition("/")[2]):
            yield from _scripted(" ".join(words[1:]), folder)
    programs = {words[0].rpartition("/")[2] for words in commands if words}
    for body in bodies:
        if not programs.isdisjoint(_PATCHING):
            yield from ((joined(folder, path), how) for path, how in patched(body))
        # A script merely written, and not run, writes nothing.
        if any(map(_INTERPRETER.match, programs)):
            yield from _scripted(body, folder)


def _gives_names(words: Sequence[str]) -> bool:
    return words[0].rpartition("/")[2] in _NAMING or _writes(words)


def _program(words: Sequence[str]) -> list[str]:
    rest = list(words)
    while rest:
        if rest[0] in _BEFORE or re.match(r"\w+=", rest[0]):
            rest = rest[1:]
        elif " ".join(rest[:2]) in _RUNNING or (rest[0] == "timeout" and len(rest) > 1):
            rest = rest[2:]
        else:
            break
    return rest


def _arguments(words: Sequence[str]) -> list[tuple[str, str]]:
    name, *given = words or [""]
    plain = [word for word in given if not word.startswith("-")]
    match name.rpartition("/")[2]:
        case "git" if "--" in given and given[0] in ("checkout", "restore"):
            paths = given[given.index("--") + 1 :]
        case "git" if given[:1] == ["restore"]:
            paths = plain[1:]
        case "curl" | "wget":
            paths = [word for option, word in pairwise(given) if option in ("-o", "-O", "--output")]
        case "dd":
            paths = [word.removeprefix("of=") for word in given if word.startswith("of=")]
        case program if program in _DEPENDENCIES and not _CHANGING.isdisjoint(plain[:1]):
            paths = list(_DEPENDENCIES[program])
        case program if program in ("sed", "perl") or program in _HANDED:
            paths = []
        case _:
            paths = plain if words and _writes(words) else []
    return [(path, "edited") for path in paths]


def _writes(words: Sequence[str]) -> bool:
    name, given = words[0].rpartition("/")[2], words[1:]
    needed = _WRITERS.get(name)
    if needed is None:
        return name in _HANDED
    short = name in ("sed", "perl") and any(re.match(r"-[a-zA-Z]*i", word) for word in given)
    return _ONLY_LOOKING.isdisjoint(given) and (
        not needed or short or not set(needed).isdisjoint(given)
    )


def _handed_on(words: Sequence[str]) -> bool:
    name = words[0].rpartition("/")[2] if words else ""
    if name == "find" and "-delete" in words:
        return True
    if name not in ("find", "xargs"):
        return False
    return any(_writes(words[at:]) for at in range(1, len(words)))


def _indirect(name: str, known: Mapping[str, Sequence[str]]) -> bool:
    last = name.rpartition("/")[2]
    return last == "$" or "$(" in name or "`" in name or last.strip("${}") in known["read"]


def _variables(commands: Iterable[Sequence[str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {"read": []}
    for words in commands:
        if words[:1] == ["for"] and words[2:3] == ["in"]:
            found[words[1]] = list(words[3:])
        elif "read" in words[:2]:
            found["read"] += [word for word in words if not word.startswith("-")]
    return found


def _resolved(name: str, known: Mapping[str, Sequence[str]]) -> Iterator[str]:
    variable = _VARIABLE.search(name)
    words = None if variable is None else known.get(variable[1])
    if variable is None or not words:
        yield name
    else:
        before, after = name[: variable.start()], name[variable.end() :]
        yield from (f"{before}{word}{after}" for word in words)


def _scripted(text: str, folder: str) -> Iterator[tuple[str, str]]:
    if _WRITING_CALL.search(text):
        found = (one or other for one, other in _LITERAL.findall(text))
        yield from ((joined(folder, name), "edited") for name in found)

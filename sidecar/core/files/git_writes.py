"""Finds files that git in a shell command may change."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, TypeAlias

from sidecar.core.dataclass import dataclass
from sidecar.core.files.shell_writes import joined, simple, split

ANYWHERE = ""
"""In place of a path: any file may have changed."""
GitFate: TypeAlias = Literal["unknown", "lost", "aside", "returned"]
"""Of changes that were not committed: `lost` where files are as committed, `aside` in a stash."""
_WHATEVER = frozenset({
    "checkout", "switch", "restore", "reset", "stash", "merge", "rebase", "pull", "apply", "am",
    "cherry-pick", "revert", "clean",
})  # fmt: skip
"""What git does to files of the work tree."""
_BRANCHES = frozenset({"-b", "-B", "-c", "-C", "--create"})
_LEAVES = {
    "stash": ("list", "show", "drop", "clear", "create", "store"),
    "apply": ("--check", "--stat", "--numstat", "--summary", "--cached"),
    "clean": ("-n", "--dry-run"),
}
"""Words with which these leave the work tree as it is."""
_HARD = frozenset({"--hard", "--merge", "--keep"})
_WORK_TREE = frozenset({"-W", "--worktree"})
_INDEX = frozenset({"-S", "--staged"})
_SIDES = frozenset({"--ours", "--theirs", "--merge", "--conflict"})
_COMMITTED_STATE = frozenset({"HEAD", "@"})
_A_FILE = re.compile(r"[^:]*[\w-]\.[A-Za-z]\w{0,4}")
_VALUED = frozenset({"-C", "-c", "--git-dir", "--work-tree"})
_GLOBS = frozenset("*?[$:`")


@dataclass(frozen=True, slots=True)
class GitChange:
    """A file or folder, or `ANYWHERE`, and what became of changes there."""

    path: str
    fate: GitFate = "unknown"


def git_changes(command: str, folder: str = "") -> tuple[GitChange, ...]:
    """Relative paths are below `folder`."""
    if "git" not in command:
        return ()
    found: list[GitChange] = []
    text, bodies = split(command)
    for words, _ in simple(text):
        if words[:1] == ["cd"] and len(words) > 1:
            folder = joined(folder, words[1])
        found += _changes(words, folder)
    for script in bodies:
        found += git_changes(script, folder)
    return tuple(dict.fromkeys(found))


def _changes(words: Sequence[str], folder: str) -> Iterator[GitChange]:
    for number, word in enumerate(words):
        if word.rpartition("/")[2] == "git":
            yield from _changed(words[number + 1 :], folder)
            return
        if number and " " in word and "git " in word:
            # What a shell in quotes, or an interpreter, is given to run.
            yield from git_changes(word, folder)


def _changed(words: Sequence[str], folder: str) -> Iterator[GitChange]:
    while words and words[0].startswith("-"):
        if words[0] == "-C" and len(words) > 1:
            folder = joined(folder, words[1])
        words = words[2 if words[0] in _VALUED else 1 :]
    verb, given = (words[0], words[1:]) if words else ("", ())
    if verb not in _WHATEVER or not set(_LEAVES.get(verb, ())).isdisjoint(given):
        return
    plain = [word for word in given if not word.startswith("-")]
    match verb:
        case "checkout" | "switch" if not _BRANCHES.isdisjoint(given) and len(plain) < 2:
            return
        case "reset" if _HARD.isdisjoint(given):
            return
        case "restore" if not _INDEX.isdisjoint(given) and _WORK_TREE.isdisjoint(given):
            return
        case "checkout" | "restore" if "--" in given:
            at = list(given).index("--")
            yield from _paths(given[at + 1 :], folder, _fate(given[:at]))
        case "restore":
            yield from _paths(plain, folder, _fate(set(given) - set(plain)))
        case "checkout" if (files := list(filter(_A_FILE.fullmatch, plain))) and (
            len(plain) - len(files) < 2
        ):
            yield from _paths(files, folder, _fate(word for word in given if word not in files))
        case "reset" if "--hard" in given:
            yield GitChange(ANYWHERE, "lost")
        case "stash":
            back = not {"pop", "apply"}.isdisjoint(given)
            yield GitChange(ANYWHERE, "returned" if back else "aside")
        case _:
            yield GitChange(ANYWHERE)


def _fate(options: Iterable[str]) -> GitFate:
    given = set(options)
    others = [word for word in given if word[:1] != "-" and word not in _COMMITTED_STATE]
    sourced = any(word.startswith(("--source", "-s")) for word in given)
    return "unknown" if others or sourced or not _SIDES.isdisjoint(given) else "lost"


def _paths(given: Sequence[str], folder: str, fate: GitFate) -> Iterator[GitChange]:
    if not given:
        yield GitChange(ANYWHERE)
    for one in given:
        whole = joined(folder, one).rstrip("/")
        glob = not _GLOBS.isdisjoint(whole)
        path = ANYWHERE if glob or whole in ("", ".", "..") else whole
        yield GitChange(path, "unknown" if glob else fate)

"""Files of the work tree that a shell command's git may change, by its words."""

from collections.abc import Iterator, Sequence

from sidecar.core.files.shell_writes import joined, simple, split

ANYWHERE = ""
"""In place of a path: any file may have changed."""
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
_VALUED = frozenset({"-C", "-c", "--git-dir", "--work-tree"})
_GLOBS = frozenset("*?[$:`")


def git_changes(command: str, folder: str = "") -> tuple[str, ...]:
    """Paths of files and folders, relative ones below `folder`; `ANYWHERE`."""
    if "git" not in command:
        return ()
    found: list[str] = []
    text, bodies = split(command)
    for words, _ in simple(text):
        if words[:1] == ["cd"] and len(words) > 1:
            folder = joined(folder, words[1])
        found += _changes(words, folder)
    for script in bodies:
        found += git_changes(script, folder)
    return tuple(dict.fromkeys(found))


def _changes(words: Sequence[str], folder: str) -> Iterator[str]:
    for number, word in enumerate(words):
        if word.rpartition("/")[2] == "git":
            yield from _changed(words[number + 1 :], folder)
            return
        if number and " " in word and "git " in word:
            # What a shell in quotes, or an interpreter, is given to run.
            yield from git_changes(word, folder)


def _changed(words: Sequence[str], folder: str) -> Iterator[str]:
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
            yield from _paths(given[list(given).index("--") + 1 :], folder)
        case "restore":
            yield from _paths(plain, folder)
        case _:
            yield ANYWHERE


def _paths(given: Sequence[str], folder: str) -> Iterator[str]:
    if not given:
        yield ANYWHERE
    for path in given:
        whole = joined(folder, path).rstrip("/")
        yield ANYWHERE if whole in ("", ".", "..") or not _GLOBS.isdisjoint(whole) else whole

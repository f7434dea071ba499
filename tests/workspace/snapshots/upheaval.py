"""Random operations on a folder, and what a plain look at every file says of it."""

import os
import random
import shutil
import stat
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from sidecar.core.files.tree import TreeEntry
from tests.core.trees import holding

NAMES = [b"a", b"b", b"src", b"lib", b"x.py", "größe".encode(), "日本".encode(), b"caf\xe9\xff"]
IGNORED = [b"ignored", b"deep.log"]
GITIGNORE = b"ignored/\n*.log\n"
MOST_DEPTH = 5


def plain(
    root: Path, hidden: Collection[bytes] = (), before: Mapping[bytes, TreeEntry] | None = None
) -> dict[bytes, TreeEntry]:
    """Look at everything, one path at a time, with no cleverness.

    `hidden`: names that the rules of the root leave out for now. What was there `before` stays.
    """
    found: dict[bytes, TreeEntry] = {}
    base = os.fsencode(root)
    pending = [(b"", hidden, False)]
    while pending:
        folder, names, below = pending.pop()
        listed = os.listdir(os.path.join(base, folder))
        if folder and b".git" in listed:
            names, below = (), False
        for name in listed:
            path = os.path.join(folder, name)
            real = os.path.join(base, path)
            mode = os.lstat(real).st_mode
            was = None if before is None else before.get(path)
            if name == b".git" or name.endswith(b".log"):
                continue
            left_out = below or name in names
            if left_out and (was is None or was.is_folder != stat.S_ISDIR(mode)):
                continue
            if stat.S_ISDIR(mode):
                if name == b"ignored":
                    continue
                found[path] = TreeEntry(mode)
                pending.append((path, names, left_out))
            elif stat.S_ISLNK(mode):
                target = os.readlink(real)
                found[path] = holding(target, mode)
            elif stat.S_ISREG(mode):
                with open(real, "rb") as file:
                    data = file.read()
                found[path] = holding(data, mode)
    return found


class Upheaval:
    """Turns a folder upside down, the same way for the same seed."""

    def __init__(self, root: Path, seed: int, names: Sequence[bytes] = NAMES) -> None:
        self._base = os.fsencode(root)
        self._dice = random.Random(seed)
        self._written = 0
        self._names = names
        (root / ".gitignore").write_bytes(GITIGNORE)
        self._acts: list[Callable[[], None]] = [
            *[self._create] * 6,
            *[self._edit] * 6,
            *[self._delete] * 2,
            *[self._rename] * 4,
            self._copy_folder,
            self._chmod,
            self._link,
            self._hard_link,
            self._make_folder,
            self._nested_repository,
            self._touch,
            self._replace_by_rename,
            self._pipe,
        ]

    def act(self, times: int) -> None:
        """Do some things; what cannot be done is left."""
        for _ in range(times):
            act = self._dice.choice(self._acts)
            with suppress(OSError, shutil.Error):
                act()
            # What is written through a second name that came and went between two snapshots is
            # known to no event.
            if act == self._hard_link:
                return

    def hide(self) -> list[bytes]:
        """Let the root's rules leave out other names than before; gives them."""
        names = self._dice.sample(self._names, self._dice.choice([0, 1, 3]))
        rules = GITIGNORE + b"".join(name + b"\n" for name in names)
        with open(os.path.join(self._base, b".gitignore"), "wb") as file:
            file.write(rules)
        return names

    def burst(self, files: int) -> None:
        """Make many files at once."""
        for number in range(files):
            folder = os.path.join(self._base, b"burst", b"%d" % (number % 97))
            os.makedirs(folder, exist_ok=True)
            self._write(os.path.join(folder, b"f%d" % number))

    def _existing(self) -> list[bytes]:
        found: list[bytes] = []
        for folder, folders, files in os.walk(self._base):
            folders.sort()
            if b".git" in folders:
                folders.remove(b".git")
            found += [os.path.join(folder, name) for name in sorted(folders + files)]
        return [path for path in found if not path.endswith(b".gitignore")]

    def _some(self, test: Callable[[bytes], bool] | None = None) -> bytes:
        found = [path for path in self._existing() if test is None or test(path)]
        if not found:
            raise FileNotFoundError
        return self._dice.choice(found)

    def _folder(self) -> bytes:
        folders = [self._base] + [
            path
            for path in self._existing()
            if os.path.isdir(path)
            and not os.path.islink(path)
            and path.count(b"/") - self._base.count(b"/") < MOST_DEPTH
        ]
        return self._dice.choice(folders)

    def _new(self) -> bytes:
        names = self._names if self._dice.random() < 0.85 else IGNORED
        return os.path.join(self._folder(), self._dice.choice(names))

    def _write(self, path: bytes) -> None:
        self._written += 1
        # Often the same content twice, and sizes that stay while the content does not.
        content = b"%d" % self._dice.randrange(40) if self._dice.random() < 0.5 else b""
        content = content or b"%06d\n" % self._written * self._dice.choice([1, 1, 1, 200])
        # Opening a pipe would wait for its reader.
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NONBLOCK
        with open(os.open(path, flags, 0o644), "wb") as file:
            file.write(content)

    def _create(self) -> None:
        self._write(self._new())

    def _edit(self) -> None:
        path = self._some(lambda path: os.path.isfile(path) and not os.path.islink(path))
        if self._dice.random() < 0.5:
            with open(path, "ab") as file:
                file.write(b"more\n")
        else:
            self._write(path)

    def _delete(self) -> None:
        path = self._some()
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)

    def _rename(self) -> None:
        source, target = self._some(), self._new()
        if self._dice.random() < 0.5 and os.path.isdir(target) and not os.path.islink(target):
            shutil.rmtree(target)
        os.rename(source, target)

    def _copy_folder(self) -> None:
        source = self._some(lambda path: os.path.isdir(path) and not os.path.islink(path))
        target = self._new()
        small = sum(len(files) for _, _, files in os.walk(source)) < 60
        if small and not target.startswith(source + b"/"):
            shutil.copytree(source, target, symlinks=True)

    def _chmod(self) -> None:
        path = self._some(lambda path: not os.path.islink(path))
        folder = os.path.isdir(path)
        os.chmod(path, self._dice.choice([0o755, 0o700] if folder else [0o644, 0o755, 0o600]))

    def _link(self) -> None:
        os.symlink(self._dice.choice([b"x.py", b"../a", b"/etc", b"caf\xe9"]), self._new())

    def _hard_link(self) -> None:
        # Writes through a name that nobody watches are known only to `recheck`.
        source, target = self._some(os.path.isfile), self._new()
        if not any(ignored + b"/" in source + target for ignored in IGNORED):
            os.link(source, target, follow_symlinks=False)

    def _make_folder(self) -> None:
        os.makedirs(os.path.join(self._new(), self._dice.choice(self._names)))

    def _nested_repository(self) -> None:
        git = os.path.join(self._folder(), b".git")
        if not os.path.lexists(git):
            os.mkdir(git)
            self._write(os.path.join(git, b"HEAD"))
            # Rules from around a repository do not hold inside it, so it has the same again.
            with open(os.path.join(os.path.dirname(git), b".gitignore"), "wb") as file:
                file.write(GITIGNORE)

    def _touch(self) -> None:
        os.utime(self._some(lambda path: not os.path.islink(path)))

    def _replace_by_rename(self) -> None:
        path = self._some(lambda path: os.path.isfile(path) and not os.path.islink(path))
        self._write(path + b"~")
        os.rename(path + b"~", path)

    def _pipe(self) -> None:
        os.mkfifo(self._new())

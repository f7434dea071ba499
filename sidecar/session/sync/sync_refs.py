"""Sessions on refs: what lies there, its pieces, and new ones sent by compare-and-swap.

A ref `refs/sidecar/NAME` is a line of commits; the newest holds all pieces, each a packed bundle,
perhaps encrypted, cut to `LARGEST` bytes, and says in its message what is to be shown of the
session, encrypted where the piece is.
"""

import asyncio
import json
import re
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from sidecar.core.dataclass import dataclass
from sidecar.core.errors import BadRequest, RemoteFailed, StorageFailed
from sidecar.core.parts import JsonObject
from sidecar.session.sync.sync_git import SyncGit
from sidecar.session.sync.sync_history import joined
from sidecar.session.sync.sync_remotes import Remote
from sidecar.session.sync.sync_sealing import NO_RECIPIENTS, SEALED, Sealing
from sidecar.session.transfer.bundle_screen import odd
from sidecar.store.connection import bundle_file
from sidecar.store.format.bundles import MOST_BYTES, MOST_LINES, Bundle, lines_of, read_lines

REFS = "refs/sidecar/"
LARGEST = 32 * 1024 * 1024
"""Bytes of an object: GitHub warns of more than 50 MB."""
HEADS = ("--depth=1", "--filter=tree:0")
MOST_FETCHED = 1024 * 1024 * 1024
"""Bytes of what one fetch brings."""
MOST_FILES = 50_000
MOST_ABOUT = 64 * 1024
"""Bytes of a commit that says of its session what is to be shown."""
NAME = re.compile(r"ses_[0-9A-Za-z]{4,60}")
_FILE = re.compile(r"[0-9]{6}(\.[0-9]{2})?\.sidecar")
_OID = re.compile(r"[0-9a-f]{40,64}")
PLAIN = Sealing()
UNREAD: JsonObject = {"title": "(encrypted)"}


@dataclass(frozen=True, slots=True)
class SentRef:
    """A ref to move from commit `old` to `new`; "" is no ref."""

    name: str
    new: str
    old: str


class SyncRefs:
    """The refs of one remote, and copies of those that are followed here."""

    def __init__(self, git: SyncGit, remote: Remote, sealing: Sealing = PLAIN) -> None:
        self._git = git
        self.remote = remote
        self.sealing = sealing
        self._sealed = set[str]()
        self._mirror = f"refs/there/{remote.key}/"

    async def tips(self) -> dict[str, str]:
        """Gives each session's commit there. Raises RemoteFailed."""
        address = self.remote.address
        ran = await self._git.asked(self.remote.shown, "ls-remote", "--quiet", address, f"{REFS}*")
        if ran.code:
            raise RemoteFailed(f"{self.remote.shown} cannot be reached: {ran.said}")
        return await asyncio.to_thread(_tips, ran.out)

    async def fetch(self, names: Iterable[str], *, heads: bool = False) -> None:
        """Copies refs alone, which may have moved since; with `heads`, newest commits at most.

        Raises RemoteFailed, StorageFailed.
        """
        specs = [f"+{REFS}{name}:{self._mirror}{name}" for name in sorted(names)]
        if not specs:
            return
        ran = await self._git.asked(
            self.remote.shown, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head",
            "--no-auto-maintenance", "--recurse-submodules=no", "--refmap=",
            *(HEADS if heads else ()), self.remote.address, *specs, coming=MOST_FETCHED,
        )  # fmt: skip
        if ran.code:
            raise RemoteFailed(f"{self.remote.shown} cannot be read: {ran.said}")

    async def fetched(self) -> dict[str, str]:
        """Gives the commits of the copies."""
        form = "--format=%(objectname) %(refname)"
        out = await self._git.done("for-each-ref", form, self._mirror)
        lines = (line.split(" ", 1) for line in out.decode("ascii", "replace").splitlines())
        return {ref.removeprefix(self._mirror): oid for oid, ref in lines}

    async def forget(self, names: Iterable[str]) -> None:
        """Drops copies with all that only they hold."""
        for name in names:
            await self._git.done("update-ref", "-d", f"{self._mirror}{name}")
        await self._git.done("gc", "--quiet", "--prune=now")

    async def tidy(self) -> None:
        """Packs the copies where many have come."""
        with suppress(StorageFailed):
            await self._git.done("gc", "--quiet", "--auto")

    async def bundle(self, tip: str) -> Bundle:
        """Reads and joins a commit's pieces. Raises BadRequest if it holds anything else."""
        files = await self._files(tip)
        if sum(size for _, _, size in files) > MOST_BYTES:
            raise odd("it is larger than is taken")
        whole = await self._contents([oid for _, oid, _ in files])
        pieces: dict[str, bytearray] = {}
        for (path, _, _), data in zip(files, whole, strict=True):
            pieces.setdefault(path[:6], bytearray()).extend(data)
        found = [bytes(pieces[at]) for at in sorted(pieces)]
        if any(piece.startswith(SEALED) for piece in found):
            self._sealed.add(tip)
        unseal = self.sealing.unseal
        return await asyncio.to_thread(lambda: _joined(list(map(unseal, found))))

    def check_sealing(self, tip: str) -> None:
        """Raises BadRequest where what is read of `tip` is encrypted, and what follows were not."""
        if tip in self._sealed and not self.sealing.recipients:
            raise BadRequest(NO_RECIPIENTS)

    async def about(self, tips: Sequence[str]) -> list[JsonObject]:
        """Gives what each commit says of its session; nothing where it says it otherwise."""
        asked = "".join(f"{oid}\n" for oid in tips).encode()
        sizes = (await self._git.done("cat-file", "--batch-check", given=asked)).split(b"\n")
        fit = [oid for oid, said in zip(tips, sizes, strict=False) if _fits(said)]
        told = dict(zip(fit, await self._contents(fit), strict=True))
        return await asyncio.to_thread(
            lambda: [_about(told.get(oid, b""), self.sealing) for oid in tips]
        )

    async def commit(self, parent: str, data: bytes, about: Mapping[str, object]) -> str:
        """Writes a commit with one packed piece more, encrypted if wished; returns it."""
        data, message = await asyncio.to_thread(self._written, data, about)
        kept = await self._files(parent) if parent else []
        number = int(kept[-1][0][:6]) + 1 if kept else 1
        listed = [f"100644 blob {oid}\t{path}\0" for path, oid, _ in kept]
        for n, start in enumerate(range(0, len(data), LARGEST)):
            oid = await self._git.done(
                "hash-object", "-w", "--stdin", given=data[start : start + LARGEST]
            )
            listed.append(f"100644 blob {oid.decode().strip()}\t{number:06}.{n:02}.sidecar\0")
        tree = await self._git.done("mktree", "-z", given="".join(listed).encode())
        parents = ("-p", parent) if parent else ()
        made = await self._git.done("commit-tree", *parents, tree.decode().strip(), given=message)
        return made.decode().strip()

    def _written(self, data: bytes, about: Mapping[str, object]) -> tuple[bytes, bytes]:
        message = json.dumps(about, ensure_ascii=False).encode("utf-8", "replace")
        if not self.sealing.recipients:
            return data, message
        sealed = b64encode(self.sealing.seal(message)).decode("ascii")
        hidden = {"sidecar": "session", "version": 1, "sealed": sealed}
        return self.sealing.seal(data), json.dumps(hidden).encode()

    async def send(self, wanted: Sequence[SentRef]) -> dict[str, str]:
        """Moves refs, each only if it still is as known; gives refusals by name.

        Raises RemoteFailed where nothing is known of any.
        """
        leases = [f"--force-with-lease={REFS}{one.name}:{one.old}" for one in wanted]
        specs = [f"{one.new}:{REFS}{one.name}" for one in wanted]
        ran = await self._git.asked(
            self.remote.shown, "push", "--porcelain", "--no-verify", "--no-signed",
            "--no-follow-tags", "--no-thin", *leases, self.remote.address, *specs,
        )  # fmt: skip
        told = _answers(ran.out.decode("utf-8", "replace"))
        if ran.code and not told:
            raise RemoteFailed(f"{self.remote.shown} took nothing: {ran.said}")
        refused = {}
        for one in wanted:
            if (answer := told.get(one.name, "it gave no answer")) is not None:
                refused[one.name] = answer
            elif one.new:
                await self._git.done("update-ref", f"{self._mirror}{one.name}", one.new)
        return refused

    async def _files(self, tip: str) -> list[tuple[str, str, int]]:
        """Gives path, object and size of each file of pieces, in order."""
        if await self._git.done("cat-file", "-t", tip) != b"commit\n":
            raise odd("its ref holds no pieces")
        out = await self._git.done("ls-tree", "-l", "-z", tip)
        if out.count(b"\0") > MOST_FILES:
            raise odd("it has more files than are taken")
        found = []
        for line in out.decode("utf-8", "replace").split("\0"):
            about, _, path = line.partition("\t")
            fields = about.split()
            if len(fields) == 4 and fields[1] == "blob" and _FILE.fullmatch(path):
                found.append((path, fields[2], int(fields[3])))
        return sorted(found)

    async def _contents(self, oids: Sequence[str]) -> list[bytes]:
        asked = "".join(f"{oid}\n" for oid in oids).encode()
        most = MOST_BYTES + 200 * len(oids)
        out = await self._git.done("cat-file", "--batch", given=asked, most=most)
        found, at = [], 0
        for _ in oids:
            end = out.find(b"\n", at)
            fields = out[at:end].split()
            if end < 0 or len(fields) != 3:
                raise StorageFailed("a fetched piece is missing: sync again", kind="io")
            size = int(fields[2])
            found.append(out[end + 1 : end + 1 + size])
            at = end + 1 + size + 1
        return found


def packed(piece: Bundle) -> bytes:
    return bundle_file.packed(lines_of(piece))


def _tips(out: bytes) -> dict[str, str]:
    lines = (line.partition("\t") for line in out.decode("ascii", "replace").splitlines())
    named = ((ref.removeprefix(REFS), oid) for oid, _, ref in lines)
    return {n: oid for n, oid in named if NAME.fullmatch(n) and _OID.fullmatch(oid)}


def _fits(said: bytes) -> bool:
    fields = said.split()
    return len(fields) == 3 and int(fields[2]) <= MOST_ABOUT


def _about(commit: bytes, sealing: Sealing) -> JsonObject:
    try:
        found = json.loads(commit.partition(b"\n\n")[2])
        if isinstance(found, dict) and isinstance(sealed := found.get("sealed"), str):
            found = json.loads(sealing.unseal(b64decode(sealed)))
    except BadRequest:
        return UNREAD
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _joined(pieces: Sequence[bytes]) -> Bundle:
    read, total, count = [], 0, 0
    for piece in pieces:
        lines = []
        for line in bundle_file.read(piece):
            total += len(line)
            if total > MOST_BYTES:
                raise odd("it is larger than is taken")
            lines.append(line)
        count += len(lines)
        if count > MOST_LINES:
            raise odd("it has more lines than are taken")
        read.append(read_lines(lines))
    return joined(read)


def _answers(out: str) -> dict[str, str | None]:
    """Reads what a push says of each ref: a refusal, or `None` if it moved."""
    told: dict[str, str | None] = {}
    for line in out.splitlines():
        flag, *fields = line.split("\t")
        if len(fields) == 2 and len(flag) == 1:
            _, _, ref = fields[0].rpartition(":")
            told[ref.removeprefix(REFS)] = fields[1] if flag == "!" else None
    return told

"""Sizes in `sidecar doctor`."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypeAlias

from sidecar.config import Config
from sidecar.core.dataclass import dataclass
from sidecar.core.files.tree import MIB
from sidecar.core.text.visible import many, visible, whole_letters
from sidecar.session.sync.sync_files import known_remotes, removed_names
from sidecar.session.transfer.quotas import near_quotas
from sidecar.store.connection.store_files import ARCHIVE, EXPORTS, MILESTONES, SYNC
from sidecar.store.retention.store_sizes import StoreWeights

MOST_SESSIONS = 3
"""Sessions shown one by one."""
MUCH_FREE = 0.3
"""Free share of the file, for advice."""

SizeState: TypeAlias = Literal["ok", "note", "bad"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding, with `advice` if needed."""

    state: SizeState
    subject: str
    found: str
    advice: str = ""


def sizes(weights: StoreWeights, config: Config) -> list[Finding]:
    kinds = {
        "messages": weights.texts,
        "complete outputs of tools": weights.outputs,
        "snapshots": weights.snapshots,
        "free": weights.free,
        "indexes and the like": weights.rest,
    }
    told = ", ".join(
        f"{in_bytes(size)} {name}"
        for name, size in sorted(kinds.items(), key=lambda kind: -kind[1])
        if size
    )
    advice = ""
    if weights.free > max(MIB, weights.size * MUCH_FREE):
        advice = "`sidecar prune` gives free space back; the hourly sweep does, too"
    found = [Finding("ok", "what holds it", told or "nothing", advice)]
    found += [Finding("ok", "", line) for line in _heaviest(weights)]
    found += [Finding("ok", "", line) for line in _beside(config.data_dir)]
    quotas = near_quotas(config.retention, weights.outputs, weights.texts + weights.outputs)
    found += [Finding("note", "quota", one.message, one.action) for one in quotas.values()]
    return found


def _heaviest(weights: StoreWeights) -> Iterator[str]:
    for one in weights.heaviest[:MOST_SESSIONS]:
        used = datetime.fromtimestamp(one.updated / 1000, UTC).astimezone()
        title = visible(whole_letters(one.title or "(untitled)", 60))
        yield f"{one.id}, {in_bytes(one.size)}, last used {used:%Y-%m-%d}: {title}"


def _beside(data_dir: Path) -> Iterator[str]:
    for name in (ARCHIVE, EXPORTS, MILESTONES, SYNC):
        files = [path for path in (data_dir / name).rglob("*") if path.is_file()]
        if files:
            size = sum(path.stat().st_size for path in files)
            yield f"{name}: {in_bytes(size)} in {many(len(files), 'file')} beside the store"


def remotes(data_dir: Path) -> Iterator[Finding]:
    """Tells of git remotes: which folders' sessions go there, and how many lie there by now."""
    for known in known_remotes(data_dir):
        marked = {mark.folder for mark in known.marks.values()}
        folders = sorted(marked | known.folders | known.sealed)
        where = ", ".join(map(visible, folders)) or "no folder"
        waiting = (
            f"; {left} deleted here wait to be removed there"
            if (left := len(known.marks.keys() & set(removed_names(data_dir))))
            else ""
        )
        told = f"{known.shown}: {many(len(known.marks), 'session')} of {where}{waiting}"
        advice = "`sidecar sync` removes them" if waiting else ""
        yield Finding("ok", "git remote", told, advice)


def in_bytes(number: int) -> str:
    if number >= MIB:
        return f"{number / MIB:.1f} MiB"
    return f"{number / 1024:.0f} KiB" if number >= 1024 else f"{number} bytes"

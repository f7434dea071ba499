"""Keeps learned facts in a workspace's `.sidecar/learned`. Blocks.

Only trusted workspaces; no link is followed, as some lead to files that run later.
"""

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from sidecar.core.conversation.fact import Fact, key_of
from sidecar.core.errors import BadRequest
from sidecar.core.ledger.learned_markdown import FILES, LARGEST, Bullet, keys_in, merge
from sidecar.core.parts import SessionId
from sidecar.workspace.files import legible, newline, read_text, write_atomically

FOLDER = ".sidecar/learned"
MOST_READ = 4 * LARGEST
"""Bytes of a file; those grown longer by people are left alone."""

_writing = threading.Lock()
"""Sessions of one workspace may learn together."""


def read_learned(
    cwd: Path, trusted: bool, keeps: Callable[[str], bool] | None = None
) -> Mapping[str, str]:
    """Leaves out files that a rule `keeps`."""
    if not trusted:
        return {}
    kept = {kind for kind, name in FILES.items() if keeps is not None and keeps(f"{FOLDER}/{name}")}
    found = {kind: _read(cwd, kind) for kind in FILES if kind not in kept}
    return {kind: legible(text) for kind, text in found.items() if text}


def promote(
    cwd: Path,
    trusted: bool,
    session_id: SessionId,
    facts: Sequence[Fact],
    writes: Callable[[Path, str], None] | None = None,
) -> frozenset[str]:
    """Adds facts to files; returns the keys of all facts there.

    `writes` gets path and text before each write. OSError leaves a file unchanged.
    """
    if not trusted:
        return frozenset()
    with _writing:
        texts = {kind: _read(cwd, kind) for kind in FILES}
        standing = keys_in(text for text in texts.values() if text)
        wanted = {key_of(fact.content): fact for fact in reversed(facts) if fact.kind in FILES}
        done = standing & wanted.keys()
        for kind, text in texts.items():
            new = [
                _bullet(fact, session_id)
                for key, fact in reversed(wanted.items())
                if fact.kind == kind and key not in standing
            ]
            real = _place(cwd, kind)
            if not new or text is None or real is None:
                continue
            merged = merge(text, kind, new, newline(text))
            if merged.added:
                if writes is not None:
                    writes(real, merged.text)
                write_atomically(real, merged.text)
                done |= merged.added
    return done


def _bullet(fact: Fact, session_id: SessionId) -> Bullet:
    day = datetime.fromtimestamp(fact.at / 1000, UTC).date().isoformat()
    return Bullet(fact.content, day, session_id, fact.source)


def _place(cwd: Path, kind: str) -> Path | None:
    own = Path(os.path.realpath(cwd)) / FOLDER / FILES[kind]
    return own if os.path.realpath(own) == str(own) else None


def _read(cwd: Path, kind: str) -> str | None:
    real = _place(cwd, kind)
    if real is None:
        return None
    try:
        if real.stat().st_size > MOST_READ:
            return None
        return read_text(real)
    except FileNotFoundError:
        return ""
    except (OSError, BadRequest):
        return None

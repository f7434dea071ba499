"""What is wished of a sync, and what came of it."""

from collections.abc import Awaitable, Callable
from dataclasses import field
from typing import Protocol

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import PartId, SessionId


@dataclass(frozen=True, slots=True)
class SyncWish:
    """`folder`: whose sessions. `agreed`: the address people were shown, and agreed to.

    `project`: the folder's, as other clones of it call it. `snapshots`: whether what files held
    comes and goes along; `None`: as was agreed to.

    `only` these sessions, or all; `names`: sessions of the remote to open here, or beginnings of
    their names. With `if_agreed` nothing is even looked at before somebody has.
    """

    folder: str
    remote: str | None = None
    agreed: str | None = None
    dry_run: bool = False
    if_agreed: bool = False
    only: frozenset[SessionId] = frozenset()
    names: frozenset[str] = frozenset()
    project: str = ""
    snapshots: bool | None = None


@dataclass(frozen=True, slots=True)
class SyncedOne:
    """A session that was sent or taken in: messages, and packed bytes and `files` if sent.

    `forked` from the session that another machine went on with first.
    """

    name: str
    session_id: SessionId
    title: str
    messages: int
    size: int = 0
    redacted: int = 0
    files: int = 0
    forked: SessionId | None = None


@dataclass(slots=True)
class SyncOutcome:
    """Without `agreed` or in a dry run, `sent` is what would be sent, and nothing was done.

    `recipients`: for how many keys what is sent is encrypted; 0: for all who can read there.
    `removed` names refs of sessions deleted or archived here; `elsewhere` counts sessions of the
    remote that are not here.
    """

    remote: str
    recipients: int = 0
    agreed: bool = False
    sent: list[SyncedOne] = field(default_factory=list)
    received: list[SyncedOne] = field(default_factory=list)
    forked: list[SyncedOne] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    elsewhere: int = 0


@dataclass(frozen=True, slots=True)
class FoundThere:
    """A session on a remote, as its last sender described it; `here`: its id here.

    `is_of_project`: that of the folder asked for, in another clone perhaps.
    """

    name: str
    title: str
    folder: str
    updated: int
    turns: int
    here: SessionId | None
    project: str = ""
    is_of_project: bool = False


class HeldSessions(Protocol):
    """Sessions in the hands of windows."""

    def busy(self, session_id: SessionId) -> bool: ...

    def secrets(self) -> tuple[str, ...]:
        """Those of all windows: a session may be of another than the one that syncs."""
        ...

    async def change(
        self, session_id: SessionId, write: Callable[[], Awaitable[None]], after: PartId | None
    ) -> None:
        """Runs `write` while nobody else may write; windows then see what is behind part `after`.

        Raises SessionOwned, BadRequest for a busy session.
        """
        ...

"""Sessions on git remotes: sync, and what lies there."""

import msgspec


class SessionSyncParams(msgspec.Struct, rename="camel", kw_only=True):
    """Sync the sessions of a folder, by default the workspace, with a git remote.

    `remote` is a name of the project's remotes, an address or a path; by default the setting
    `sync.remote`, else `origin`. Nothing is sent before somebody has seen what: a first call
    answers `agreed: false`, and the next one repeats the answer's `remote` as `agree`. With
    `sessionIds`, only these are synced; `open` names sessions of the remote to take in, by their
    names there or beginnings of these. With `snapshots`, what checkpoints need of files comes and
    goes along, from now on; that is shown and agreed to by itself, and `false` ends it.
    """

    cwd: str | msgspec.UnsetType = msgspec.UNSET
    remote: str | msgspec.UnsetType = msgspec.UNSET
    agree: str | msgspec.UnsetType = msgspec.UNSET
    dry_run: bool | msgspec.UnsetType = msgspec.UNSET
    session_ids: list[str] | msgspec.UnsetType = msgspec.UNSET
    names: list[str] | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="open")
    snapshots: bool | msgspec.UnsetType = msgspec.UNSET


class SyncedSession(msgspec.Struct, rename="camel", kw_only=True):
    """A session that was sent, or taken in; `name` is that of its ref, `refs/sidecar/NAME`.

    `messages` are those that were new, `size` the packed bytes sent, `redacted` likely keys that
    were taken out, `files` contents of files. `forkOf`, of a fork: the session here that another
    machine went on with first.
    """

    name: str
    session_id: str
    title: str
    messages: int
    size: int
    redacted: int
    files: int
    fork_of: str | msgspec.UnsetType = msgspec.UNSET


class SessionSyncResult(msgspec.Struct, rename="camel", kw_only=True):
    """What was done; without `agreed`, or in a dry run, what would be, and nothing was.

    `recipients`: for how many keys (`sync.recipients`) what is sent is encrypted; 0: for all who
    can read there. `removed` names refs of sessions deleted or archived here. `notes` are
    sentences for people; `elsewhere` counts sessions of the remote that are not here
    (`session/listRemote`).
    """

    remote: str
    agreed: bool
    recipients: int
    sent: list[SyncedSession]
    received: list[SyncedSession]
    forked: list[SyncedSession]
    removed: list[str]
    notes: list[str]
    elsewhere: int


class SessionListRemoteParams(msgspec.Struct, rename="camel", kw_only=True):
    """List the sessions of a git remote, named as for `session/sync`."""

    cwd: str | msgspec.UnsetType = msgspec.UNSET
    remote: str | msgspec.UnsetType = msgspec.UNSET


class RemoteSession(msgspec.Struct, rename="camel", kw_only=True):
    """A session on a remote, as its last sender described it: nobody vouches for it.

    `folder` is where it works there, `project` the repository that its `origin` names
    (`example.org/ada/engine`), "" without one; `sameProject` whether that is this folder's, by
    whichever address. `sessionId` is its id here, where it is here.
    """

    name: str
    title: str
    folder: str
    updated_at: str
    turns: int
    project: str
    same_project: bool
    session_id: str | msgspec.UnsetType = msgspec.UNSET


class SessionListRemoteResult(msgspec.Struct, rename="camel", kw_only=True):
    """The remote's sessions, newest first, but those of the folder's project before others.

    `session/sync` with `open` takes one in.
    """

    remote: str
    sessions: list[RemoteSession]

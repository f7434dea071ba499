"""Sample messages of what makes, finds and moves sessions: fork, hand off, search, import."""

import msgspec

from protocol.source import history, session, sync

SESSION = "ses_01k9f3"
LISTED = session.SessionInfo(
    session_id=SESSION,
    title="Red test",
    cwd="/home/ada/engine",
    updated_at="2026-01-05T10:00:00Z",
    turns=3,
    cost="0.0431",
    parent="ses_01k9c7",
)
REMOTE = "ssh://git@example.org/ada/engine.git"
SENT = sync.SyncedSession(
    name=SESSION, session_id=SESSION, title="Red test", messages=4, size=2311, redacted=1, files=0
)

PARAMS: dict[str, msgspec.Struct] = {
    "session/rename": session.SessionRenameParams(session_id=SESSION, title="The parser's tests"),
    "session/search": session.SessionSearchParams(
        query='tests "exit code"', cwd="/home/ada/engine", cursor="1784030000000.ses_01", limit=10
    ),
    "session/fork": history.SessionForkParams(session_id=SESSION, at_message_id="msg_05"),
    "session/handoff": history.SessionHandoffParams(
        session_id=SESSION, goal="Make the red test green", go_on=True
    ),
    "session/export": history.SessionExportParams(
        session_id=SESSION, path="/home/ada/red test.sidecar", overwrite=True
    ),
    "session/archive": history.SessionArchiveParams(session_id=SESSION),
    "session/import": history.SessionImportParams(
        format="sidecar", path="/home/ada/red test.sidecar", cwd="/home/ada/engine"
    ),
    "session/sync": sync.SessionSyncParams(
        cwd="/home/ada/engine",
        remote="origin",
        agree=REMOTE,
        session_ids=[SESSION],
        names=["ses_01k9h2"],
    ),
    "session/listRemote": sync.SessionListRemoteParams(cwd="/home/ada/engine", remote="origin"),
}

RESULTS: dict[str, msgspec.Struct] = {
    "session/rename": session.SessionRenameResult(title="The parser's tests"),
    "session/search": session.SessionSearchResult(
        sessions=[
            session.FoundSession(
                session=LISTED,
                hits=[
                    session.SearchHit(speaker="title", before="Red ", match="test", after=""),
                    session.SearchHit(
                        speaker="tool",
                        before="…ran the ",
                        match="tests",
                        after=": exit code 1 é…",
                        message_id="msg_05",
                        part_id="part_07",
                    ),
                ],
                more=True,
            )
        ],
        next_cursor="1784030000000.ses_01",
    ),
    "session/fork": history.SessionForkResult(session_id="ses_01k9h2", revision=14),
    "session/handoff": history.SessionHandoffResult(
        draft="# Goal\n\nMake the red test green\n\n# Done\n\n- [x] Find out why it is red\n",
        files=["src/a b.py", "tests/test_a.py"],
        session_id="ses_01k9h2",
    ),
    "session/export": history.SessionExportResult(
        path="/home/ada/red test.sidecar",
        size=48211,
        redacted=1,
        notes=["1 text that looked like a key was taken out."],
    ),
    "session/archive": history.SessionArchiveResult(
        sessions=[
            history.ArchivedSession(
                session_id=SESSION,
                path="/home/ada/.local/share/sidecar/archive/ses_01k9f3-20261121-200000.sidecar",
                size=48211,
                freed=163840,
            )
        ]
    ),
    "session/import": history.SessionImportResult(
        session_id="ses_01k9h2", revision=14, format="sidecar", notes=["Files were not in it."]
    ),
    "session/sync": sync.SessionSyncResult(
        remote=REMOTE,
        agreed=True,
        recipients=0,
        sent=[SENT],
        received=[],
        forked=[
            sync.SyncedSession(
                name="ses_01k9h7",
                session_id="ses_01k9h2",
                title="Parser (fork)",
                messages=6,
                size=0,
                redacted=0,
                files=0,
                fork_of="ses_01k9h8",
            )
        ],
        removed=["ses_01k9c7"],
        notes=["Red test: a turn runs, so what came from elsewhere waits for the next sync."],
        elsewhere=2,
    ),
    "session/listRemote": sync.SessionListRemoteResult(
        remote=REMOTE,
        sessions=[
            sync.RemoteSession(
                name=SESSION,
                title="Red test",
                folder="/home/ada/engine",
                updated_at="2026-01-05T10:00:00.000Z",
                turns=3,
                project="example.org/ada/engine",
                same_project=True,
                session_id=SESSION,
            )
        ],
    ),
}

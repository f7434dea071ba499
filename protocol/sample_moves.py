"""Sample messages of the methods that make other sessions: fork, hand off, export, import."""

import msgspec

from protocol.source import history

SESSION = "ses_01k9f3"

PARAMS: dict[str, msgspec.Struct] = {
    "session/fork": history.SessionForkParams(session_id=SESSION, at_message_id="msg_05"),
    "session/handoff": history.SessionHandoffParams(
        session_id=SESSION, goal="Make the red test green", go_on=True
    ),
    "session/export": history.SessionExportParams(
        session_id=SESSION, path="/home/ada/red test.sidecar", overwrite=True
    ),
    "session/import": history.SessionImportParams(
        format="sidecar", path="/home/ada/red test.sidecar", cwd="/home/ada/engine"
    ),
}

RESULTS: dict[str, msgspec.Struct] = {
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
    "session/import": history.SessionImportResult(
        session_id="ses_01k9h2", revision=14, format="sidecar", notes=["Files were not in it."]
    ),
}

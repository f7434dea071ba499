"""Sample messages of what the daemon says and asks beside a session's updates."""

import msgspec

from protocol.source import client, daemon

SESSION = "ses_01k9f3"

PARAMS: dict[str, msgspec.Struct] = {
    "session/request_permission": client.SessionRequestPermissionParams(
        session_id=SESSION,
        tool_call=client.PermissionToolCall(
            tool_call_id="toolu_01",
            title="Edit src/a b.py",
            kind="edit",
            content=[
                {
                    "type": "diff",
                    "path": "/home/ada/engine/src/a b.py",
                    "oldText": "é = 1\n",
                    "newText": "é = 2\n",
                }
            ],
            raw_input={
                "path": "src/a b.py",
                "oldText": "é = 1",
                "newText": "é = 2",
                "_x": None,
            },
            meta={"sidecar": {"question": "permission", "partId": "part_07"}},
        ),
        options=[
            client.PermissionOption(option_id="once", name="Allow once", kind="allow_once"),
            client.PermissionOption(option_id="1", name="Always this", kind="allow_always"),
            client.PermissionOption(option_id="2", name="Always edit", kind="allow_always"),
            client.PermissionOption(option_id="no", name="Reject", kind="reject_once"),
        ],
    ),
    "session/retrying": daemon.SessionRetryingParams(
        session_id=SESSION,
        attempt=1,
        max_attempts=5,
        delay_ms=2000,
        error=daemon.RetryError(
            kind="overloaded", message="The provider is overloaded.", status=529
        ),
        discard=["part_08", "part_09"],
    ),
    "daemon/statusChanged": daemon.DaemonStatusChangedParams(
        busy=True, kind="working", message="1 turn is running"
    ),
    "daemon/alert": daemon.DaemonAlertParams(
        state="raised",
        name="hit_rate",
        level="warning",
        message="Only 41% of the repeated prompts came from the cache in 15 minutes (under 70%).",
        action="See which segment broke the prefix.",
        value=0.41,
        threshold=0.7,
        at="2026-11-21T09:30:00.000Z",
        session_id=SESSION,
    ),
}

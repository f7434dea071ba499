"""A window lets go of a session that others have."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.resident import Open, prompt

pytestmark = pytest.mark.long

TRUSTED: dict[str, Any] = {"workspaceTrusted": True, "permissions": {"allow": ["shell"]}}
RUN = "run `sleep 2 && touch done`"


def is_update(kind: str) -> Callable[[dict[str, Any]], bool]:
    return lambda told: (
        told["method"] == "session/update" and told["params"]["update"]["sessionUpdate"] == kind
    )


def test_a_window_that_closes_a_session_ends_no_turn_of_another(
    window: Open, workspace: Path
) -> None:
    """Which hears its turns on."""
    first, second = window(options=TRUSTED), window(options=TRUSTED)
    session = first.request("session/new", {"cwd": str(workspace)})["sessionId"]
    turn = prompt(first, session, RUN)
    second.request("session/load", {"sessionId": session})
    second.request("session/close", {"sessionId": session})
    assert first.result(turn)["stopReason"] == "end_turn"
    assert (workspace / "done").exists()
    heard = len(first.updates("agent_message_chunk"))
    first.result(prompt(first, session, "read notes.txt"))
    assert len(first.updates("agent_message_chunk")) > heard


def test_a_window_that_closes_a_session_ends_no_turn_of_one_that_is_gone(
    window: Open, workspace: Path
) -> None:
    first, second = window(options=TRUSTED), window(options=TRUSTED)
    session = first.request("session/new", {"cwd": str(workspace)})["sessionId"]
    prompt(first, session, RUN)
    first.wait_for(is_update("tool_call"))
    first.kill()
    second.request("session/load", {"sessionId": session})
    second.request("session/close", {"sessionId": session})
    second.request("session/load", {"sessionId": session})
    second.wait_for(is_update("turn_ended"))
    assert (workspace / "done").exists()


def test_the_last_window_that_closes_a_session_ends_it(window: Open, workspace: Path) -> None:
    first = window(options=TRUSTED)
    session = first.request("session/new", {"cwd": str(workspace)})["sessionId"]
    turn = prompt(first, session, RUN)
    first.request("session/close", {"sessionId": session})
    assert first.result(turn)["stopReason"] == "cancelled"
    assert first.request("daemon/status", {})["sessions"] == []


def test_a_window_that_closes_a_session_leaves_others_their_own_rules(
    window: Open, workspace: Path
) -> None:
    first = window(options={**TRUSTED, "permissions": {"allow": ["shell:touch *"]}})
    second = window(options={"workspaceTrusted": False})
    session = first.request("session/new", {"cwd": str(workspace)})["sessionId"]
    first.result(prompt(first, session, "run `touch allowed`"))
    second.request("session/load", {"sessionId": session})
    first.request("session/close", {"sessionId": session})
    second.result(prompt(second, session, "run `touch done`"))
    assert (workspace / "allowed").exists()
    assert not (workspace / "done").exists()


def test_a_window_that_only_asked_leaves_no_rules_to_the_one_that_prompts(
    window: Open, workspace: Path
) -> None:
    bold = window(options={**TRUSTED, "permissions": {"allow": ["shell:touch *"]}})
    careful = window(options={"workspaceTrusted": False})
    session = careful.request("session/new", {"cwd": str(workspace)})["sessionId"]
    careful.request("session/close", {"sessionId": session})
    bold.request("checkpoint/list", {"sessionId": session})
    careful.result(prompt(careful, session, "run `touch done`"))
    assert not (workspace / "done").exists()
    assert "not trusted" in str(careful.notifications)

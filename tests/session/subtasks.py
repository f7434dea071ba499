"""Subtasks in scripts: a model that hands tasks on, and what became of them."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

from sidecar.config import DelegateLimits
from sidecar.core.conversation.stream import StreamEvent
from sidecar.core.parts import ToolPart
from sidecar.core.prompt.prompt import ModelRequest, ToolSpec
from sidecar.session.lifecycle.session import Session
from tests.core import prompts
from tests.fakes.scripted_model import Hold, Script, calls
from tests.session.conftest import Desk, World

LOOK = ToolSpec("look", "Look.", {"type": "object"}, "read", origin="client")
TASK = {"task": "Count the files.", "context": "They lie in src."}


def hands(*subtasks: Any, words: str = "") -> Script:
    """Answer with one call of `delegate` for each subtask."""
    made = [(f"d{n}", "delegate", given) for n, given in enumerate(subtasks)]
    return calls(*made, words=words)


def told(request: ModelRequest) -> list[str]:
    """The texts of a request's messages, without how things stand."""
    return [text for text in prompts.texts(request.prompt) if not text.startswith("<context>")]


def results(desk: Desk) -> list[Any]:
    """The results in the newest request."""
    return prompts.results(desk.prompts()[-1])


def made(desk: Desk, session: Session) -> list[ToolPart]:
    return [p for m in desk.messages(session) for p in m.parts if isinstance(p, ToolPart)]


async def child_of(desk: Desk, session: Session) -> Session:
    """Open the only subtask's session."""
    listed, _ = await desk.sessions.list(None, None, 10)
    (line,) = [line for line in listed if line.parent == session.id]
    return await desk.sessions.get(line.session_id)


def limited(world: World, **limits: Any) -> World:
    permissions = replace(world.config.permissions, allow=("delegate",))
    world.config = replace(world.config, permissions=permissions, delegate=DelegateLimits(**limits))
    return world


class ByTask:
    """A model that follows a script for each conversation, told by its first words."""

    def __init__(self, desk: Desk, **scripts: list[Script]) -> None:
        self.scripts = scripts
        self.model = desk.model
        desk.model.stream = self.stream  # type: ignore[method-assign]

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        self.model.requests.append(request)
        self.model.observe(request)
        name = told(request)[0]
        for event in self.scripts[name].pop(0):
            if isinstance(event, Hold):
                event.reached.set()
                await event.released.wait()
            elif isinstance(event, Exception):
                raise event
            else:
                yield event

"""A subtask's beginning, client and report."""

from collections.abc import Sequence
from dataclasses import replace

from sidecar.core.conversation.call_outcome import argument, finding, status
from sidecar.core.conversation.turns import tool_parts
from sidecar.core.dataclass import dataclass
from sidecar.core.errors import BadRequest
from sidecar.core.parts import JsonObject, Message, SessionId, TextPart, ToolError, ToolPart
from sidecar.core.prompt.prompt import Static, ToolSpec
from sidecar.core.prompt.render import Block, TextBlock
from sidecar.core.text.visible import clipped
from sidecar.session.changes.tracker import Tracking
from sidecar.session.epochs import epochs
from sidecar.session.log.session_log import SessionLog
from sidecar.session.state import State
from sidecar.store.content.outputs import PARENT
from sidecar.store.format.log_records import CreatedRecord, LinkedRecord
from sidecar.tools.builtin_tools import DELEGATE
from sidecar.tools.tool_contract import Client, Delegate, PermissionOption, Subtask, ThroughClient

_INHERITED = (
    "model", "policy", "window", "maxTokens", "agent", "effort", "autoCompact", "autoContinue",
)  # fmt: skip
_ROLE = """\
You do one subtask for another agent. Of all that you do it sees only your last message, and \
nobody can answer questions: decide what is left to you, and say so. You have at most {steps}. End \
with a report of at most 1,000 words. Begin it with one line that says how it came out; then what \
you found or changed as path:line, what you tried that failed, what is left open, and word for \
word the names, numbers and errors that matter."""
MOST_NAMED = 24
"""Letters of a subtask's name in a question."""
LAST_STEP = """\
What you may spend on this subtask is nearly used up: this is your last step. Call no more tools. \
Write your report now, and say in it what is not done."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A subtask's bounds: whom to ask, the most steps, and the `parent` with its MCP servers."""

    client: Client
    max_steps: int
    parent: SessionId


@dataclass(slots=True)
class Delegating:
    """Delegation: `bound` while working for another session, `delegate` starts a subtask."""

    tracking: Tracking
    bound: Bound | None = None
    delegate: Delegate | None = None

    def bind(self, bound: Bound, above: Tracking) -> None:
        self.bound, self.tracking.above = bound, above

    def release(self) -> None:
        self.bound = self.tracking.above = None


async def found_child(parent: State, subtask: Subtask) -> SessionLog:
    """Makes a durable child. Raises BadRequest for a tool unknown to the parent, StorageFailed."""
    static = _static(parent, narrowed(parent.view.static.tools, subtask.tools))
    row = parent.log.row
    kept = {name: row.settings[name] for name in _INHERITED if name in row.settings}
    settings: JsonObject = {**kept, PARENT: row.id}
    log = parent.environment.new_log(row.cwd, "", settings)
    epochs.begin(log, static, parent.clock.new_id("cmp"), "new")
    log.writer.note(LinkedRecord(source=row.id))
    await log.writer.commit(CreatedRecord())
    return log


def narrowed(offered: Sequence[ToolSpec], names: Sequence[str] | None) -> tuple[ToolSpec, ...]:
    """Selects the named tools, or all, except the built-in `delegate`. Raises BadRequest."""
    known = [tool.name for tool in offered]
    unknown = [name for name in names or () if name not in known]
    if unknown:
        have = ", ".join(known)
        raise BadRequest(f"You have no tool {', '.join(unknown)}. You have {have}.", "input.tools")
    return tuple(
        tool
        for tool in offered
        if (tool.name, tool.origin) != (DELEGATE, "builtin")
        and (names is None or tool.name in names)
    )


def blocks_of(subtask: Subtask) -> tuple[JsonObject, ...]:
    known = f"\n\nWhat is known already:\n{subtask.context}" if subtask.context else ""
    return ({"type": "text", "text": subtask.task + known},)


def last_words(messages: Sequence[Message]) -> str:
    answers = [message for message in messages if _counts(message)]
    return _text(answers[-1]) if answers else ""


def found_so_far(messages: Sequence[Message]) -> str:
    answers = [message for message in messages if _counts(message)]
    done = [
        f"- {part.name} {argument(part.input)} · {status(part)} · {finding(part)}"
        for message in answers
        for part in tool_parts(message)
        if not (isinstance(part.state, ToolError) and part.state.failure == "cancelled")
    ]
    said = [text for message in answers if (text := _text(message))]
    return "\n".join(
        [*(["It did:"] if done else ()), *done, *(["It said:"] if said else ()), *said]
    )


def refused(messages: Sequence[Message]) -> str:
    parts = [part for message in messages for part in tool_parts(message) if _is_denied(part)]
    return f"{parts[-1].name} {argument(parts[-1].input)}".strip() if parts else "a call"


def steps_in_words(number: int) -> str:
    return f"{number} step{'s' if number > 1 else ''}"


class ThroughParent(ThroughClient):
    """Asks the parent's client in the parent's name."""

    def __init__(self, client: Client, parent: SessionId, name: str, about: JsonObject) -> None:
        super().__init__(client, parent)
        self._parent = parent
        self._name = name
        self._about = about

    @property
    def terminals(self) -> None:
        """None: the client does not know the subtask's calls, where terminals would show."""
        return None

    async def request_permission(
        self, _: SessionId, tool_call: JsonObject, options: tuple[PermissionOption, ...]
    ) -> str | None:
        meta = tool_call.get("_meta")
        ours = meta.get("sidecar") if isinstance(meta, dict) else None
        # Editors cut a long title, of which the tool has to stay.
        name = clipped(self._name, MOST_NAMED)
        told: JsonObject = {
            **tool_call,
            "title": f"Subtask “{name}”: {tool_call.get('title', '')}",
            "_meta": {
                "sidecar": {**(ours if isinstance(ours, dict) else {}), "subtask": self._about}
            },
        }
        return await self._client.request_permission(self._parent, told, options)


def _static(parent: State, tools: tuple[ToolSpec, ...]) -> Static:
    """Adds the subtask's role behind the parent's system text."""
    static = parent.view.static
    role = Block(
        TextBlock(_ROLE.format(steps=steps_in_words(parent.config.delegate.steps))), "system"
    )
    behind = sum(block.region == "system" for block in static.system)
    system = (*static.system[:behind], role, *static.system[behind:])
    return replace(static, tools=tools, system=system)


def _counts(message: Message) -> bool:
    return message.role == "assistant" and message.status != "discarded"


def _text(message: Message) -> str:
    return "\n\n".join(p.text for p in message.parts if isinstance(p, TextPart)).strip()


def _is_denied(part: ToolPart) -> bool:
    return isinstance(part.state, ToolError) and part.state.failure == "denied"

"""An editor that knows LSP alone: messages, questions and progress."""

from collections.abc import Sequence
from contextlib import suppress
from difflib import unified_diff

from sidecar.core.parts import Json, JsonObject, SessionId
from sidecar.core.prompt.meter import Meter
from sidecar.session.log.events import (
    AlertChanged,
    EpochChanged,
    Event,
    Notice,
    Progressed,
    TextChunk,
    ToolChanged,
)
from sidecar.session.log.progress import Work
from sidecar.tools.tool_contract import PermissionOption, ThroughClient
from sidecar.wire.client_requests import ERROR, INFO, WARNING, ClientFailed
from sidecar.wire.connection import Connection, alarm

MOST_LINES = 30
"""Lines of a change in a question, shown by editors in a small box."""
LEVELS = {"error": ERROR, "warning": WARNING}


class PlainEditor(ThroughClient):
    """Implements `tools.tool_contract.Client` for a plain LSP client.

    Asks by `window/showMessageRequest`; shows important events only.
    """

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self.connection = connection
        self._part = ""
        self.said = ""
        self.work: Work | None = None

    # --- telling and asking ------------------------------------------------------------------

    def show(self, text: str, kind: int = INFO) -> None:
        """Show a line among the editor's messages."""
        self.connection.requests.notify("window/showMessage", {"type": kind, "message": text})

    def log(self, text: str) -> None:
        """Write a longer text to the editor's log."""
        self.connection.requests.notify("window/logMessage", {"type": INFO, "message": text})

    async def choose(self, question: str, choices: Sequence[str]) -> str | None:
        """The user's choice; `None` when dismissed, ClientFailed if the editor cannot ask."""
        actions: list[Json] = [{"title": choice} for choice in choices]
        params: JsonObject = {"type": INFO, "message": question, "actions": actions}
        answer = await self.connection.requests.request("window/showMessageRequest", params)
        title = answer.get("title") if isinstance(answer, dict) else None
        return title if isinstance(title, str) and title in choices else None

    def watch(self, event: Event) -> None:
        """Show an event of a session, if important."""
        match event:
            case Progressed():
                self.connection.watch(event)
            case Notice(level=level, text=text) if level in LEVELS:
                self.show(text, LEVELS[level])
            case AlertChanged() if (shown := alarm(event)) is not None:
                self.connection.requests.notify("window/showMessage", shown)
            case EpochChanged(status="completed", cause=cause) if cause not in ("user", "restore"):
                before, after = tokens(event.tokens_before), tokens(event.tokens_after)
                self.show(f"Compacted: {before} to {after} tokens.")
            case TextChunk(speaker="agent", text=text):
                if event.origin.part_id != self._part:
                    self._part, self.said = event.origin.part_id, ""
                self.said += text
            case ToolChanged(title=str(title)) if self.work is not None:
                self.work.tell("report", title)
            case _:
                pass

    # --- the contract ------------------------------------------------------------------------

    async def request_permission(
        self, session_id: SessionId, tool_call: JsonObject, options: tuple[PermissionOption, ...]
    ) -> str | None:
        """The user's answer; `None` when dismissed, or if the editor cannot ask."""
        if self.connection.can.ask_permission:
            return await self.connection.request_permission(session_id, tool_call, options)
        names = {option.name: option.option_id for option in options}
        title = str(tool_call.get("title") or "a tool")
        with suppress(ClientFailed):
            chosen = await self.choose("\n".join((title, *_changes(tool_call))), tuple(names))
            return None if chosen is None else names[chosen]
        self.show(
            f"Not allowed, for this editor cannot ask: {title} Give initializationOptions "
            "workspaceTrusted, and permissions.allow, for what may run without asking.",
            WARNING,
        )
        return None


def _changes(tool_call: JsonObject) -> list[str]:
    content = tool_call.get("content")
    lines: list[str] = []
    for block in content if isinstance(content, list) else ():
        match block:
            case {"type": "diff", "oldText": str() | None as old, "newText": str(new)}:
                texts = (old or "").splitlines(), new.splitlines()
                lines += list(unified_diff(*texts, n=0, lineterm=""))[2:]
            case _:
                pass
    more = len(lines) - MOST_LINES
    return lines if more <= 0 else [*lines[:MOST_LINES], f"[… {more} more lines]"]


def meter_line(meter: Meter) -> str:
    """The meter in a few words; `~` marks an estimate."""
    mark = "~" if meter.accuracy == "estimated" else ""
    return f"{mark}{meter.percent:.0f}% · {tokens(meter.used)}/{tokens(meter.window)}"


def tokens(number: int) -> str:
    """Tokens in short: 950, 4.2k, 84k."""
    if number < 1_000:
        return str(number)
    return f"{number / 1000:.1f}k" if number < 10_000 else f"{number / 1000:.0f}k"

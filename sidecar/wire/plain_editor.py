"""Reaches editors that know LSP alone: messages, questions and progress."""

from collections.abc import Sequence
from contextlib import suppress
from difflib import unified_diff

from sidecar.core.parts import Json, JsonObject, SessionId
from sidecar.core.prompt.meter import Meter
from sidecar.core.text.visible import visible, visible_json
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
from sidecar.wire.client_requests import ERROR, INFO, WARNING, ClientFailed, shown
from sidecar.wire.connection import Connection, alarm, is_cut

MOST_LINES, LONGEST_LINE, MOST_PAGES = 30, 200, 12
"""Lines of a page of a question, for a small box; characters of a line; pages of a question that
can be allowed."""
CONTINUED = "↪ "
"""Before the rest of a longer line."""
NEXT, AGAIN = "Next page", "First page"
LEVELS = {"error": ERROR, "warning": WARNING}


class PlainEditor(ThroughClient):
    """Implements `tools.tool_contract.Client`.

    Asks by `window/showMessageRequest`, and shows only important events.
    """

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self.connection = connection
        self._part = ""
        self.said = ""
        self.work: Work | None = None

    # --- telling and asking ------------------------------------------------------------------

    def show(self, text: str, kind: int = INFO) -> None:
        self.connection.requests.notify("window/showMessage", shown(kind, text))

    def log(self, text: str) -> None:
        self.connection.requests.notify("window/logMessage", shown(INFO, text))

    async def choose(self, question: str, choices: Sequence[str]) -> str | None:
        """Returns `None` if dismissed; raises ClientFailed if impossible."""
        titles = {visible(choice): choice for choice in choices}
        actions: list[Json] = [{"title": title} for title in titles]
        params = {**shown(INFO, question), "actions": actions}
        answer = await self.connection.requests.request("window/showMessageRequest", params)
        title = answer.get("title") if isinstance(answer, dict) else None
        return titles.get(title) if isinstance(title, str) else None

    def watch(self, event: Event) -> None:
        match event:
            case Progressed():
                self.connection.watch(event)
            case Notice(level=level, text=text) if level in LEVELS:
                self.show(text, LEVELS[level])
            case AlertChanged() if (told := alarm(event)) is not None:
                self.connection.requests.notify("window/showMessage", told)
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
        if self.connection.can.ask_permission:
            return await self.connection.request_permission(session_id, tool_call, options)
        title = str(tool_call.get("title") or "a tool")
        pages = _pages(_asked(title, tool_call))
        if len(pages) > MOST_PAGES or is_cut(tool_call):
            options = tuple(one for one in options if one.kind.startswith("reject"))
            pages = [f"{pages[0]}\n[{len(pages) - 1} more pages, too long to be allowed here]"]
        with suppress(ClientFailed):
            return await self._read_and_chosen(pages, options)
        self.show(
            f"Not allowed, for this editor cannot ask: {title} Give initializationOptions "
            "workspaceTrusted, and permissions.allow, for what may run without asking.",
            WARNING,
        )
        return None

    async def _read_and_chosen(
        self, pages: Sequence[str], options: tuple[PermissionOption, ...]
    ) -> str | None:
        """Offers what allows once all pages were seen; raises ClientFailed."""
        names = {option.name: option.option_id for option in options}
        refusals = tuple(one.name for one in options if one.kind.startswith("reject"))
        number = 0
        while True:
            at_end, question, answers = number == len(pages) - 1, pages[number], tuple(names)
            if len(pages) > 1:
                question += f"\n[page {number + 1} of {len(pages)}]"
                # Whoever turns pages by one key meets nothing in its place that allows.
                answers = (AGAIN, *names) if at_end else (NEXT, *refusals)
            chosen = await self.choose(question, answers)
            if chosen not in (NEXT, AGAIN):
                return None if chosen is None else names[chosen]
            number = 0 if at_end else number + 1


def _asked(title: str, tool_call: JsonObject) -> list[str]:
    content = tool_call.get("content")
    lines: list[str] = []
    for block in content if isinstance(content, list) else ():
        match block:
            case {"type": "diff", "oldText": str() | None as old, "newText": str(new)}:
                lines += list(unified_diff(_lines(old or ""), _lines(new), n=0, lineterm=""))[2:]
            case _:
                pass
    given = tool_call.get("rawInput")
    if not lines and not _says(title, given):
        lines = visible_json(given, 2).split("\n")
    return [*title.split("\n"), *lines]


def _says(title: str, given: Json) -> bool:
    """Whether a title is a Sidecar tool's, which holds the whole input."""
    match given:
        case {"command": str(command), "cwd": str(folder), **rest} if (
            not rest and ":" not in folder
        ):
            whole: tuple[str, ...] = (f"Run in {folder}: {command}",)
        case {"command": str(command), **rest} if not rest and not command.startswith("in "):
            whole = (f"Run {command}",)
        case {"path": str(path), **rest} if not rest:
            whole = (f"Read {path}", f"List {path}")
        case _:
            return given == {}
    # A subtask's name stands before its calls' titles.
    return any(title == one or title.endswith(f"”: {one}") for one in whole)


def _lines(text: str) -> list[str]:
    # Only LF ends a line: others are written out.
    return text.removesuffix("\n").split("\n") if text else []


def _pages(lines: Sequence[str]) -> list[str]:
    # No piece of a long line passes for a line, as one that goes or comes.
    cut = [
        CONTINUED * (at > 0) + line[at : at + LONGEST_LINE]
        for line in (visible(one, keep="\t") for one in lines)
        for at in range(0, max(1, len(line)), LONGEST_LINE)
    ]
    return ["\n".join(cut[at : at + MOST_LINES]) for at in range(0, len(cut), MOST_LINES)]


def meter_line(meter: Meter) -> str:
    """`~` marks an estimate."""
    mark = "~" if meter.accuracy == "estimated" else ""
    return f"{mark}{meter.percent:.0f}% · {tokens(meter.used)}/{tokens(meter.limit)}"


def tokens(number: int) -> str:
    if number < 1_000:
        return str(number)
    return f"{number / 1000:.1f}k" if number < 10_000 else f"{number / 1000:.0f}k"

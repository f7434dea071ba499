"""A model repeating itself: the same calls in a row, with the same answers.

Ignored are times, durations and temporary paths; in answers any numbers. In inputs numbers count:
reading on from another line is no repetition.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import field

from sidecar.core.conversation.turns import tool_parts
from sidecar.core.dataclass import dataclass
from sidecar.core.errors import Cancelled, SidecarError
from sidecar.core.parts import JsonObject, Message, ToolCompleted, ToolError, ToolPart
from sidecar.session.turn.consent import Consent
from sidecar.tools.tool_contract import PermissionOption

IN_A_ROW = 3

OPTIONS = (
    PermissionOption("continue", "Let it continue", "allow_once"),
    PermissionOption("stop", "Stop this turn", "reject_once"),
    PermissionOption("always", "Do not ask again in this session", "allow_always"),
)


_TEMPORARY = re.compile(r"(?:/private)?/(?:tmp|var/tmp|var/folders|dev/shm)/[^\s'\"`:,;()<>|&]+")
_TIME = re.compile(
    r"\b\d{4}-\d\d-\d\d(?:[T _]?\d\d[:h-]?\d\d(?:[:-]?\d\d)?(?:[.,]\d+)?Z?)?"
    r"|\b\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d+)?\b|\b1\d{9}(?:\d{3}|\.\d+)?\b"
)
_NUMBER = re.compile(r"0x[0-9a-fA-F]+|\d+(?:[.,]\d+)*")
_DURATION = re.compile(r"# ?(?:[nuµm]s|s|secs?|seconds?|m|mins?|minutes?|h|hours?)\b")


def repeated(calls: Sequence[ToolPart], cwd: str) -> bool:
    """Whether the last three calls and outcomes are the same; `cwd` is not temporary."""
    last = calls[-IN_A_ROW:]
    return len(last) == IN_A_ROW and len({_signature(call, cwd) for call in last}) == 1


def _signature(call: ToolPart, cwd: str) -> tuple[str, str, str]:
    match call.state:
        case ToolCompleted(output=output):
            result = output.text
        case ToolError(message=message):
            result = message
        case _:
            result = ""
    asked = _TIME.sub("#", _settled(repr(call.input), cwd))
    return call.name, asked, _DURATION.sub("#", _NUMBER.sub("#", _settled(result, cwd)))


def _settled(text: str, cwd: str) -> str:
    return _TEMPORARY.sub("/tmp", text.replace(cwd, "."))


@dataclass(frozen=True, slots=True)
class LoopWatch:
    """Asks the user about loops."""

    consent: Consent
    notice: Callable[[str], None]
    cwd: str
    calls: list[ToolPart] = field(default_factory=list)

    async def lets(self, message: Message) -> bool:
        """Takes in an answer's calls; returns whether the model may go on."""
        self.calls.extend(tool_parts(message))
        if self.consent.permissions.loops_allowed or not repeated(self.calls, self.cwd):
            return True
        goes_on = await self._ask(message, self.calls[-1])
        self.calls.clear()
        return goes_on

    async def _ask(self, message: Message, call: ToolPart) -> bool:
        question: JsonObject = {
            "toolCallId": call.call_id,
            "title": f"{call.name} was called {IN_A_ROW} times in a row with the same result. "
            "Let it continue?",
            "kind": "other",
            "status": "pending",
            "rawInput": call.input,
            "_meta": {"sidecar": {"question": "loop", "partId": call.id, "messageId": message.id}},
        }
        try:
            answer = await self.consent.ask(question, OPTIONS)
        except Cancelled:
            raise
        except SidecarError as error:
            self.notice(f"{question['title']} Nobody could be asked: {error.message}.")
            return False
        if answer == "always":
            self.consent.permissions.loops_allowed = True
        return answer in ("continue", "always")

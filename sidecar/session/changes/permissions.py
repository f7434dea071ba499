"""Permission rules and questions."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import JsonObject, ToolPart
from sidecar.core.prompt.prompt import ToolSpec
from sidecar.tools.access import asked_each_time, edit_of, read_of
from sidecar.tools.builtin_tools import BUILTIN, BY_NAME
from sidecar.tools.rules.permission import Allow, Ask, Refuse, Rules, decide, remember
from sidecar.tools.rules.rules_as_called import as_called
from sidecar.tools.tool_contract import Access, KeptBack, PermissionOption

AskUser: TypeAlias = Callable[[JsonObject, tuple[PermissionOption, ...]], Awaitable[str | None]]
"""(tool call, options) -> the chosen option's id, or `None`."""


class QuestionOutcome(Enum):
    """How a question ended, or `allowed` where rules allow a call unasked."""

    allowed = "allowed"
    refused = "refused"
    dismissed = "dismissed"


@dataclass(slots=True)
class _Book:
    configured: Rules
    answered: Rules = field(default_factory=Rules)

    @property
    def rules(self) -> Rules:
        configured, answered = self.configured, self.answered
        return Rules((*configured.allow, *answered.allow), (*configured.reject, *answered.reject))


CallState: TypeAlias = Literal["waiting", "working"]


def keeps_in(
    folder: str, window: Path | None, reject: tuple[str, ...]
) -> Callable[[str], bool] | None:
    """Gives `Permissions.keeps` of a session that is not open."""
    return Permissions(Rules(reject=reject), Path(folder), window).keeps() if reject else None


class Permissions:
    """Decides on calls; `always` answers hold until the session closes.

    `calls` counts as `waiting` those that wait for the user or for a subtask that may; as `working`
    the other running ones.
    """

    def __init__(self, rules: Rules, root: Path, window: Path | None = None) -> None:
        self._book = _Book(rules)
        self._root, self._window = root, window
        self.loops_allowed = False
        self.calls: dict[CallState, int] = {"waiting": 0, "working": 0}

    def for_subtask(self) -> "Permissions":
        """Shares rules and later answers with a subtask, which asks anew about loops.

        A subtask asks in this session's name, so `always` holds for both.
        """
        other = Permissions(self._book.configured, self._root, self._window)
        other._book = self._book
        return other

    def stand_alone(self) -> None:
        """Ends `for_subtask`: what was allowed in the other session's name is asked about anew."""
        book = self._book
        self._book = _Book(book.configured, Rules(reject=book.answered.reject))

    @property
    def answered(self) -> Rules:
        """What the user answered by `always`, so far."""
        return self._book.answered

    def go_on(self, answered: Rules, *, allowing: bool) -> None:
        """Takes on the answers of a session that is opened anew; those that allow if `allowing`."""
        self._book.answered = Rules(answered.allow if allowing else (), answered.reject)

    def configure(self, rules: Rules) -> None:
        """Replaces configured rules, keeping the user's answers."""
        self._book.configured = rules

    def _as_called(self, rules: Rules) -> Rules:
        return as_called(rules, self._root, self._window)

    def why_not_restored(self, path: str, variables: Mapping[str, str], *, trusted: bool) -> str:
        """Says why a session from elsewhere does not have a file written: no edit would be unasked.

        Blocks.
        """
        if not trusted:
            return "This folder is not trusted."
        found, rules = edit_of(path, self._root, variables), self._as_called(self._book.rules)
        if why := asked_each_time(found):
            return why
        answers = (decide(spec, found, rules, trusted) for spec in BUILTIN if spec.kind == "edit")
        return "A rule of yours rejects it." if any(isinstance(a, Refuse) for a in answers) else ""

    def kept_back(self, spec: ToolSpec) -> KeptBack | None:
        """Gives a look at what a tool that reads leaves out of a folder; `None` without rules.

        Blocks.
        """
        return self._kept(spec, self._book.rules.reject)

    def _kept(self, spec: ToolSpec, reject: tuple[str, ...]) -> KeptBack | None:
        rules = Rules(reject=self._as_called(Rules(reject=reject)).reject)

        def is_kept(path: str, shown: str, spelt: tuple[str, ...]) -> bool:
            found = Access(spec.kind, "", paths=(path,), shown=(shown,), spelt=spelt)
            return isinstance(decide(spec, found, rules, trusted=True), Refuse)

        return is_kept if rules.reject else None

    def keeps(self) -> Callable[[str], bool] | None:
        """Gives a look by path at what a rule keeps from the model, as `kept_back`. Blocks.

        A rule for a tool as a whole says nothing of a file.
        """
        paths = tuple(rule for rule in self._book.rules.reject if ":" in rule)
        kept = self._kept(BY_NAME["read_file"], paths)
        if kept is None:
            return None

        @cache
        def is_kept(path: str) -> bool:
            found = read_of(path, self._root)
            return bool(found.problem) or kept(found.paths[0], found.shown[0], found.spelt)

        return is_kept

    async def settle(
        self, spec: ToolSpec, wanted: Access, call: ToolPart, ask: AskUser, *, trusted: bool
    ) -> QuestionOutcome | str:
        """Asks the user if a rule says so; returns any reason to refuse."""
        rules = self._book.rules
        if rules.reject or (rules.allow and wanted.kind in ("edit", "execute")):
            decision = await asyncio.to_thread(
                lambda: decide(spec, wanted, self._as_called(rules), trusted)
            )
        else:
            decision = decide(spec, wanted, rules, trusted)
        match decision:
            case Allow():
                return QuestionOutcome.allowed
            case Refuse(reason=reason):
                return reason
            case Ask():
                return await self._put(spec, decision, call, ask)

    async def _put(
        self, spec: ToolSpec, asked: Ask, call: ToolPart, ask: AskUser
    ) -> QuestionOutcome:
        about: JsonObject = {"question": "permission", "partId": call.id}
        if asked.why:
            about["why"] = asked.why
        question: JsonObject = {
            "toolCallId": call.call_id,
            "title": asked.title,
            "kind": spec.kind,
            "status": "pending",
            "rawInput": call.input,
            "_meta": {"sidecar": about},
        }
        chosen = await ask(question, asked.options)
        option = next((o for o in asked.options if o.option_id == chosen), None)
        if option is None:
            return QuestionOutcome.dismissed
        allowed = option.kind.startswith("allow")
        if rule := asked.rules.get(option.option_id):
            self._book.answered = remember(self._book.answered, rule, allowed)
        return QuestionOutcome.allowed if allowed else QuestionOutcome.refused

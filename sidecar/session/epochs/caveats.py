"""Warns clients of settings, servers, limits, and cache-breaking text."""

import json
from collections.abc import Sequence

from sidecar.core.prompt.render import TextBlock
from sidecar.core.text.volatile_text import Volatile, VolatileKind, volatile
from sidecar.session.environment import Environment
from sidecar.session.log.channel import Channel, give_notice
from sidecar.session.log.session_log import SessionLog
from sidecar.session.session_settings import SessionSettings
from sidecar.session.view.model_view import ModelView

FLEETING: frozenset[VolatileKind] = frozenset({"temporary path", "port", "process id"})
"""Never an example in a tool's description."""


class Caveats:
    """Warns a session's clients."""

    def __init__(
        self,
        environment: Environment,
        log: SessionLog,
        channel: Channel,
        settings: SessionSettings,
        view: ModelView,
    ) -> None:
        self._environment = environment
        self._log = log
        self._channel = channel
        self._settings = settings
        self._view = view

    def tell(self) -> None:
        for problem in self._environment.settings.amiss:
            self._warn(f"Settings: {problem}")
        for problem in self._environment.mcp.problems(self._log.row.id):
            self._warn(f"{problem}.")
        self.tell_limits()
        self._tell_volatile_text()

    def tell_limits(self) -> None:
        """Warns of a `window` or `maxTokens` above the model's limit, which counts."""
        info = self._settings.info()
        known = "(as far as is known) " if info.price is None else ""
        for name, most in (("window", info.window), ("maxTokens", info.max_output)):
            asked = self._settings.number(name)
            if asked is not None and asked > most:
                self._warn(
                    f"{name} is set to {asked} tokens, and {info.id} {known}takes {most} at most: "
                    f"{most} is what counts"
                )

    def _tell_volatile_text(self) -> None:
        """Warns of dates, times, ids and the like in system prompt and tools.

        They keep sessions from sharing a prefix. Exempt are instructions, where people may mean a
        date, and dates in tools, as examples.
        """
        static = self._view.static
        for tool in static.tools:
            if tool.origin != "builtin":
                said = f"{tool.description}\n{json.dumps(tool.input_schema, ensure_ascii=False)}"
                fleeting = [one for one in volatile(said) if one.kind in FLEETING]
                self._tell_found(f"tool {tool.name}", fleeting)
        for block in static.system:
            if block.region == "system" and isinstance(block.content, TextBlock):
                self._tell_found("system text", volatile(block.content.text))

    def _tell_found(self, where: str, found: Sequence[Volatile]) -> None:
        if not found:
            return
        first = found[0]
        more = f" and {len(found) - 1} more like it" if len(found) > 1 else ""
        self._warn(
            f"The {where} holds a {first.kind} ({first.text}){more}. What changes there costs the "
            "whole prompt's cache: give it with a message instead."
        )

    def _warn(self, text: str) -> None:
        give_notice(self._log, self._channel, "warning", text)

"""Instructions that the model knows.

A change is told with the next user message, and joins the static part at the next epoch.
"""

from collections.abc import Callable, Sequence

from sidecar.core.prompt.frames import in_context, within_frame
from sidecar.core.prompt.prompt import Static, ToolSpec
from sidecar.session.changes.session_trust import Trust
from sidecar.session.environment import Environment
from sidecar.session.epochs import lessons
from sidecar.session.epochs.static_prompt import (
    build_static,
    instructions_in,
    with_instructions,
    with_learned,
)
from sidecar.session.log.session_log import SessionLog
from sidecar.session.session_settings import SessionSettings
from sidecar.session.view.model_view import ModelView
from sidecar.store.format.log_records import ToldRecord
from sidecar.store.format.values import SessionRow
from sidecar.workspace.instructions import Instruction
from sidecar.workspace.instructions_watch import hashes, name_of


async def begin(
    environment: Environment,
    row: SessionRow,
    trusted: bool,
    tools: Sequence[ToolSpec],
    system: str | None,
) -> Static:
    model = str(row.settings["model"])
    return build_static(model, tools, system, *await read(environment, row.cwd, trusted, model))


async def read(
    environment: Environment, cwd: str, trusted: bool, model: str, without: str = ""
) -> tuple[tuple[Instruction, ...], str]:
    """Also reads facts learned in sessions other than `without`."""
    found = await environment.workspaces.instructions.read(cwd, trusted)
    if not (trusted and environment.settings.config.learned):
        return found, ""
    return found, await lessons.learned(environment, cwd, model, without)


class KnownInstructions:
    """Compares instructions and learned facts with those told to the model."""

    def __init__(
        self,
        environment: Environment,
        log: SessionLog,
        view: ModelView,
        trust: Trust,
        settings: SessionSettings,
    ) -> None:
        self._environment = environment
        self._log = log
        self._view = view
        self._trust = trust
        self._settings = settings
        self._now: tuple[Instruction, ...] | None = None
        self._learned: str | None = None

    async def look(self) -> None:
        row, trusted, model = self._log.row, self._trust.granted, self._settings.model_id
        self._now, self._learned = await read(self._environment, row.cwd, trusted, model, row.id)

    def with_changes(self, context: str) -> str:
        if self._now is None:
            return context
        texts = {name_of(one.path): one.text for one in self._now}
        blocks = [
            f'<instructions-changed path="{path}">{_told(texts.get(path))}</instructions-changed>'
            for path in self._changed(self._now)
        ]
        return in_context(*blocks, before=context) if blocks else context

    def tell(self, context: str) -> str:
        """Adds changes to a message's `context`, and logs the telling."""
        told = self.with_changes(context)
        if told != context:
            self._log.writer.note(ToldRecord(files=dict(hashes(self._now or ()))))
        return told

    def head(self) -> Static:
        return self.renewed(self._view.static)

    def renewed(self, static: Static) -> Static:
        """Renews the static part with the newest instructions and facts.

        Changes told earlier follow in the history. If the last is outdated, the next message
        repeats the present text, as the newest wins.
        """
        if self._now is not None:
            static = with_instructions(static, self._now)
        return static if self._learned is None else with_learned(static, self._learned)

    def follow(self, changed: Callable[[str], None]) -> None:
        def seen(current: tuple[Instruction, ...]) -> None:
            if paths := ", ".join(self._changed(current)):
                changed(paths)

        watch, row = self._environment.workspaces.instructions, self._log.row
        watch.follow(row.id, row.cwd, lambda: self._trust.granted, seen)

    def _changed(self, current: tuple[Instruction, ...]) -> list[str]:
        """Lists paths of texts unknown to the model: new or changed, then removed."""
        record = self._log.last_told(ToldRecord)
        told = None if record is None else record.files
        known = hashes(instructions_in(self._view.static)) if told is None else told
        now = hashes(current)
        other = [path for path in now if known.get(path) != now[path]]
        return [*other, *(path for path in known if path not in now)]


def _told(text: str | None) -> str:
    if text is None:
        return "removed"
    return f"\n{within_frame(text)}\n"

"""Instructions known to the model, from the static part or later messages.

Static bytes are constant within an epoch, so a change goes once at the end of the next user
message, and into the static part at the next epoch.
"""

from collections.abc import Mapping, Sequence

from sidecar.core.prompt.prompt import Static, ToolSpec
from sidecar.session.environment import Environment
from sidecar.session.epochs import lessons
from sidecar.session.epochs.static_prompt import (
    build_static,
    instructions_in,
    with_instructions,
    with_learned,
)
from sidecar.session.log.channel import give_notice
from sidecar.session.state import State
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
    """A new session's static part."""
    model = str(row.settings["model"])
    return build_static(model, tools, system, *await read(environment, row.cwd, trusted, model))


async def read(
    environment: Environment, cwd: str, trusted: bool, model: str, without: str = ""
) -> tuple[tuple[Instruction, ...], str]:
    """A folder's instructions, and facts learned in sessions other than `without`."""
    found = await environment.workspaces.instructions.read(cwd, trusted)
    if not (trusted and environment.settings.config.learned):
        return found, ""
    return found, await lessons.learned(environment.models, cwd, model, without)


async def look(state: State) -> None:
    """Read instructions and learned facts, for the other functions here."""
    row, trusted, model = state.log.row, state.trust.granted, state.settings.model_id
    state.instructions, state.learned = await read(
        state.environment, row.cwd, trusted, model, row.id
    )


def with_changes(state: State, context: str) -> str:
    """Add unknown instructions to a message's context."""
    current = state.instructions
    if current is None:
        return context
    texts = {name_of(one.path): one.text for one in current}
    blocks = [
        f'<instructions-changed path="{path}">{_told(texts.get(path))}</instructions-changed>'
        for path in _changed(state, current)
    ]
    if not blocks:
        return context
    start = context.removesuffix("\n</context>") or "<context>"
    return "\n".join((start, *blocks, "</context>"))


def tell(state: State, context: str) -> str:
    """As `with_changes`, for a logged message; records what was told."""
    told = with_changes(state, context)
    if told != context:
        current = state.instructions or ()
        state.log.writer.note(ToldRecord(files=dict(hashes(current))))
    return told


def renewed(state: State, static: Static) -> Static:
    """A new epoch's static part, with the instructions of the last `look`.

    Changes told earlier follow in the history. If the last differs from the present text, the next
    message repeats the text, so that the newest wins.
    """
    if state.instructions is not None:
        static = with_instructions(static, state.instructions)
    return static if state.learned is None else with_learned(static, state.learned)


def follow(state: State) -> None:
    """Tell people when an instruction file changes."""

    def seen(current: tuple[Instruction, ...]) -> None:
        paths = ", ".join(_changed(state, current))
        if paths and not state.ownership.read_only and state.channel.watched:
            text = f"Instructions changed: {paths}. The model is told with your next message."
            give_notice(state.log, state.channel, "info", text)

    watch, row = state.environment.workspaces.instructions, state.log.row
    watch.follow(row.id, row.cwd, lambda: state.trust.granted, seen)


def _changed(state: State, current: tuple[Instruction, ...]) -> list[str]:
    """Unknown to the model: new or changed, then removed."""
    known, now = _known(state), hashes(current)
    other = [path for path in now if known.get(path) != now[path]]
    return [*other, *(path for path in known if path not in now)]


def _known(state: State) -> Mapping[str, str]:
    record = state.log.last_told(ToldRecord)
    return hashes(instructions_in(state.view.static)) if record is None else record.files


def _told(text: str | None) -> str:
    if text is None:
        return "removed"
    inner = text.replace("</context", "<\\/context")
    return "\n{}\n".format(inner.replace("</instructions-changed", "<\\/instructions-changed"))

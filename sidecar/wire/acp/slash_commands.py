"""Runs commands typed as a prompt: a table of them, each a line and its function."""

import re
from collections.abc import Awaitable, Callable
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TypeAlias

from sidecar.core.dataclass import dataclass
from sidecar.core.errors import BadRequest, NothingToDo, RestoreConflict
from sidecar.core.parts import Json, JsonObject, SessionId
from sidecar.session.desk.sessions import Sessions
from sidecar.session.interface import Done, Wish
from sidecar.session.lifecycle.session import Session
from sidecar.session.log.events import Watcher
from sidecar.session.transfer.bundle_export import export_session
from sidecar.tools.tool_contract import Client
from sidecar.wire.acp import markdown_answers as told
from sidecar.wire.rollback_words import numbered, turns_back, wanted

MOST_SESSIONS = 20


@dataclass(frozen=True, slots=True)
class SlashCommand:
    """Name without slash, and the rest."""

    name: str
    argument: str


@dataclass(frozen=True, slots=True)
class CommandScene:
    """What a command acts on."""

    sessions: Sessions
    session: Session
    client: Client
    watcher: Watcher


Answering: TypeAlias = Callable[[str, CommandScene], Awaitable[str]]
"""A command over the words behind it; returns Markdown, raises SidecarError."""

_TYPED = re.compile(r"\s*/([\w-]*)(?:\s+(.*))?", re.DOTALL)


def command_of(prompt: list[JsonObject]) -> SlashCommand | None:
    """Reads `/word` and what follows, known or not; `None` for any other text, as a path is."""
    first: Json = prompt[0] if prompt else None
    if not isinstance(first, dict) or first.get("type") != "text":
        return None
    typed = _TYPED.fullmatch(str(first.get("text", "")))
    if typed is None or _is_path(typed[1]):
        return None
    return SlashCommand(typed[1].lower(), (typed[2] or "").strip())


def _is_path(word: str) -> bool:
    """Whether `/word` is one of the root's files and folders, as `/tmp` is."""
    try:
        return word not in COMMANDS and word != "" and Path("/", word).exists()
    except OSError:
        return False  # Too long for a name.


async def run(command: SlashCommand, scene: CommandScene) -> str:
    """A Markdown report; raises SidecarError, also for an unknown command."""
    known = COMMANDS.get(command.name)
    if known is None:
        near = get_close_matches(command.name, COMMANDS, 1)
        meant = f"; `/{near[0]}` may be meant" if near else ""
        raise BadRequest(
            f"there is no such command{meant}. `/help` lists all; a text that is for the model "
            "begins with another word"
        )
    if command.argument and not known.takes:
        raise BadRequest("no words are taken after it")
    return await known.act(command.argument, scene)


# --- the context -----------------------------------------------------------------------------


async def _compact(instructions: str, scene: CommandScene) -> str:
    rewriting = scene.session.rewriting
    done = await rewriting.compact(None, None, dry_run=False, instructions=instructions)
    return told.compaction(done)


async def _undo(_: str, scene: CommandScene) -> str:
    meter = await scene.session.rewriting.undo(None)
    return f"The newest compaction is taken back: {meter.used:,} tokens."


async def _context(_: str, scene: CommandScene) -> str:
    return told.breakdown(*await scene.session.rewriting.breakdown())


async def _cost(_: str, scene: CommandScene) -> str:
    return told.costs(scene.session.priced_meter())


async def _pin(words: str, scene: CommandScene, *, pinned: bool) -> str:
    command, back = ("pin", "unpin") if pinned else ("unpin", "pin")
    rewriting = scene.session.rewriting
    _, segments = await rewriting.breakdown()
    pieces = told.largest([one for one in segments if "partId" in one])
    if not words:
        return told.pieces(command, pieces)
    names = {str(number): str(one["partId"]) for number, one in enumerate(pieces, 1)}
    part_id = names.get(words, words)
    await rewriting.pin(part_id, pinned=pinned)
    fate = "is kept through compactions" if pinned else "is no longer kept through compactions"
    return f"`{part_id}` {fate}. `/{back} {part_id}` takes this back."


# --- going back ------------------------------------------------------------------------------


async def _checkpoints(_: str, scene: CommandScene) -> str:
    return told.turns(await turns_back(scene.session))


async def _rollback(words: str, scene: CommandScene) -> str:
    scope, on_conflict, number = wanted(words)
    turns = await turns_back(scene.session)
    if number is None:
        return told.turns(turns)
    wish = Wish(scope, None, numbered(turns, number).message_id, on_conflict)
    return await restored(f"/rollback {words}", "Went back", scene.session.rollback.restore, wish)


async def _redo(words: str, scene: CommandScene) -> str:
    wish = Wish("both", on_conflict=wanted(words)[1])
    return await restored("/redo", "Went forth again", scene.session.rollback.redo, wish)


async def restored(
    command: str, what: str, restore: Callable[[Wish], Awaitable[Done]], wish: Wish
) -> str:
    """Restores, and says what came of it; `what` was done. Raises SidecarError."""
    try:
        return told.restore(what, await restore(wish))
    except RestoreConflict as conflict:
        return told.conflict(command, conflict.data.get("conflicts"))
    except NothingToDo as nothing:
        if said := told.nothing(nothing.data.get("files")):
            return said
        raise


async def _diff(words: str, scene: CommandScene) -> str:
    number = wanted(words)[2]
    turns = await turns_back(scene.session)
    since = turns[-1] if number is None else numbered(turns, number)
    files = await scene.session.checkpoints.diff(since.checkpoint_id, None, None)
    return told.changes(since.title, files)


# --- sessions --------------------------------------------------------------------------------


async def _sessions(_: str, scene: CommandScene) -> str:
    page, more = await scene.sessions.list(scene.session.row.cwd, None, MOST_SESSIONS)
    return told.sessions(page, scene.session.id, more=more is not None)


async def _fork(_: str, scene: CommandScene) -> str:
    made = await scene.sessions.fork(scene.session.id, None, scene.client, scene.watcher)
    await _let_go(made.session_id, scene)
    return f"Session `{made.session_id}` is a copy of this one: open it from the list of sessions."


async def _handoff(goal: str, scene: CommandScene) -> str:
    if not goal:
        raise BadRequest("say what the fresh session is to do, as in `/handoff write the docs`")
    made = await scene.sessions.handoff(
        scene.session.id, goal, scene.client, scene.watcher, go_on=True
    )
    if made.session_id is not None:
        await _let_go(made.session_id, scene)
    return told.handoff(made)


async def _rename(title: str, scene: CommandScene) -> str:
    return f"The session is called “{told.plain(await scene.session.rename(title))}” now."


async def _let_go(session_id: SessionId, scene: CommandScene) -> None:
    """The client does not have it open; the next to open it becomes its writer."""
    await scene.sessions.close(session_id)


async def _export(path: str, scene: CommandScene) -> str:
    environment = await scene.sessions.shared.ready()
    if path:
        path = str(Path(scene.session.row.cwd, path))
    windows, session_id = scene.sessions.open.windows.entered, scene.session.id
    done = await export_session(
        environment, session_id, path or None, overwrite=False, windows=windows
    )
    return told.export(done)


# --- options ---------------------------------------------------------------------------------


def _option(config_id: str) -> Answering:
    async def act(value: str, scene: CommandScene) -> str:
        session = scene.session
        if value:
            await session.set_option(config_id, value)
        return told.option(config_id, session.opened().config_options, changed=bool(value))

    return act


async def _help(_: str, __: CommandScene) -> str:
    return told.commands(ADVERTISED)


# --- the table -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Command:
    """`takes` hints at the words behind it, "" if none may stand there."""

    does: str
    act: Answering
    takes: str = ""


_PIECE = "number or id; without, a list"
COMMANDS = {
    "help": _Command("List the commands", _help),
    "compact": _Command("Make room in the context now", _compact, "what to keep, in your words"),
    "undo": _Command("Take back the newest compaction", _undo),
    "context": _Command("Show what fills the context", _context),
    "cost": _Command("Show what the session cost, and what comes next would", _cost),
    "pin": _Command("Keep a part through compactions", partial(_pin, pinned=True), _PIECE),
    "unpin": _Command("Keep a part no longer", partial(_pin, pinned=False), _PIECE),
    "checkpoints": _Command("List the turns to go back to", _checkpoints),
    "rollback": _Command(
        "Go back to before a turn: conversation, the agent's changes, or both",
        _rollback,
        "turns back, e.g. 1; then files, conversation or both; keep, overwrite or merge",
    ),
    "redo": _Command("Take back the last going back", _redo, "keep, overwrite or merge"),
    "diff": _Command("Show what changed in the files", _diff, "turns back, e.g. 1; without, all"),
    "model": _Command("Show or switch the model", _option("model"), "the model's name"),
    "policy": _Command("Show or switch the compaction policy", _option("policy"), "its name"),
    "effort": _Command("Show or switch how hard the model thinks", _option("effort"), "a level"),
    "sessions": _Command("List this folder's sessions", _sessions),
    "rename": _Command("Give the session another title", _rename, "the title"),
    "fork": _Command("Copy this session, to go on in the copy", _fork),
    "handoff": _Command(
        "Open a fresh session that knows where the work stands", _handoff, "the goal"
    ),
    "export": _Command("Write the session to a file", _export, "file or folder"),
}


def _described(name: str, command: _Command) -> JsonObject:
    line: JsonObject = {"name": name, "description": command.does}
    return {**line, "input": {"hint": command.takes}} if command.takes else line


ADVERTISED = tuple(_described(name, command) for name, command in COMMANDS.items())
"""In the form of `available_commands_update`."""

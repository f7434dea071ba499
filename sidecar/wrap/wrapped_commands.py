"""Answers commands and requests of ours in a wrapped session."""

from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias

from sidecar.core.errors import BadRequest, SidecarError
from sidecar.core.parts import Json, JsonObject
from sidecar.session.interface import Wish
from sidecar.wire.acp import markdown_answers as told
from sidecar.wire.acp.acp_names import incoming
from sidecar.wire.acp.slash_commands import restored
from sidecar.wire.dispatch import structure
from sidecar.wire.messages import METHODS
from sidecar.wire.methods.checkpoint_methods import CheckpointAnswers
from sidecar.wire.rollback_words import numbered, turns_back, wanted
from sidecar.wrap import context_gauge
from sidecar.wrap.stream_words import Typed
from sidecar.wrap.wrapped_session import WrappedSession

STAYS = (
    "Only files go back: the agent has no way to go back to a point of its conversation, so it "
    "still knows what was said. It is told with your next prompt, in one line."
)
_UNABLE = "the agent cannot go back in its conversation: leave the word out, and the files go back"


async def answer(typed: Typed, wrapped: WrappedSession) -> str:
    """Markdown."""
    try:
        text = await _ANSWERS[typed.name](typed.words, wrapped)
    except SidecarError as error:
        text = f"`/{typed.name}` did nothing: {error.message}"
    return "\n\n".join([text, *(f"Note: {told.plain(one)}" for one in wrapped.noted())])


async def asked(method: str, params: JsonObject, wrapped: WrappedSession) -> Json:
    """The result of a request `_sidecar/checkpoint/…`. Raises SidecarError."""
    name = incoming(method) or ""
    if name not in CheckpointAnswers.NAMES:
        raise BadRequest(f"there is no method {method} here")
    scoped = params
    notes: tuple[str, ...] = ()
    if name == "checkpoint/restore":
        if params.get("scope") == "conversation":
            raise BadRequest(_UNABLE, "params.scope")
        if params.get("scope") == "both":
            scoped, notes = {**params, "scope": "files"}, (STAYS,)
    given = structure({**scoped, "sessionId": wrapped.session.id}, METHODS[name].params)
    result = await CheckpointAnswers(wrapped.session).answer(given)
    if notes and isinstance(result, dict):
        known = result.get("notes")
        result["notes"] = [*(known if isinstance(known, list) else []), *notes]
    return result


async def _checkpoints(_: str, wrapped: WrappedSession) -> str:
    return told.turns(await turns_back(wrapped.session))


async def _rollback(words: str, wrapped: WrappedSession) -> str:
    scope, on_conflict, number = wanted(words)
    if scope == "conversation":
        raise BadRequest(_UNABLE)
    turns = await turns_back(wrapped.session)
    if number is None:
        return told.turns(turns)
    wish = Wish("files", None, numbered(turns, number).message_id, on_conflict)
    command = f"/rollback {words}"
    done = await restored(command, "Went back", wrapped.session.rollback.restore, wish)
    return f"{done}\n\n{STAYS}" if wrapped.news() else done


async def _redo(words: str, wrapped: WrappedSession) -> str:
    wish = Wish("files", on_conflict=wanted(words)[1])
    return await restored("/redo", "Went forth again", wrapped.session.rollback.redo, wish)


async def _diff(words: str, wrapped: WrappedSession) -> str:
    number = wanted(words)[2]
    since = numbered(await turns_back(wrapped.session), number or 1)
    files = await wrapped.session.checkpoints.diff(since.checkpoint_id, None, None)
    return told.changes(since.title, files)


async def _meter(_: str, wrapped: WrappedSession) -> str:
    return context_gauge.said(wrapped.gauge_asked_for())


_Answer: TypeAlias = Callable[[str, WrappedSession], Awaitable[str]]
_ANSWERS: Mapping[str, _Answer] = {
    "checkpoints": _checkpoints,
    "rollback": _rollback,
    "redo": _redo,
    "diff": _diff,
    "meter": _meter,
}

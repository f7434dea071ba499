"""Folds messages between an ACP editor and agent to what happened. Pure.

Unknown messages and shapes tell nothing; both sides' requests are known until answered.
"""

from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from typing import Literal, TypeAlias

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import MOST_COUNT, Json, JsonObject, Usage

WANTED = ("fs/write_text_file", "terminal/output")
"""What agents ask of editors that is looked at."""
_OPENING = ("session/new", "session/load", "session/resume", "session/fork")
MOST_PENDING = 1_000
"""Requests waiting for an answer that are remembered; older ones are forgotten first."""


@dataclass(frozen=True, slots=True)
class FolderNamed:
    """A session will work in a folder; the agent has not answered yet."""

    session: str
    cwd: str


@dataclass(frozen=True, slots=True)
class LoadBegan:
    """The editor loads a session: what the agent says now was said before."""

    session: str
    cwd: str


@dataclass(frozen=True, slots=True)
class SessionShown:
    """The agent has a session; `before` existed already, `source` is what a fork copies."""

    session: str
    cwd: str
    before: bool
    model: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class PromptSeen:
    """The editor prompts; `request` is its id."""

    session: str
    request: str
    blocks: tuple[JsonObject, ...]


@dataclass(frozen=True, slots=True)
class SpeechSeen:
    """A piece of a text; content that is no text is described."""

    session: str
    speaker: Literal["agent", "thought", "user"]
    text: str


@dataclass(frozen=True, slots=True)
class CallSeen:
    """A call, or what changed of one."""

    session: str
    call_id: str
    shown: JsonObject


@dataclass(frozen=True, slots=True)
class PlanSeen:
    """The agent's plan, whole; each entry has `content` and `status`."""

    session: str
    entries: tuple[JsonObject, ...]


@dataclass(frozen=True, slots=True)
class UsageSeen:
    """How full the agent says its context is; `cost`: USD since the session began."""

    session: str
    used: int
    size: int
    cost: float | None


@dataclass(frozen=True, slots=True)
class SessionLeft:
    """The agent has closed a session."""

    session: str


@dataclass(frozen=True, slots=True)
class ModelSeen:
    """The session's model, from now on."""

    session: str
    model: str


@dataclass(frozen=True, slots=True)
class TitleSeen:
    """The agent calls its session so."""

    session: str
    title: str


@dataclass(frozen=True, slots=True)
class CommandsSeen:
    """Names of all the agent's own commands."""

    session: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WriteSeen:
    """The editor has written a file for the agent."""

    session: str
    path: str


@dataclass(frozen=True, slots=True)
class TerminalSeen:
    """What a terminal of the editor's has shown so far."""

    session: str
    terminal: str
    output: str


@dataclass(frozen=True, slots=True)
class PromptEnded:
    """`error`: the agent's words where the prompt failed; `request`: the prompt's id."""

    session: str
    stop: str
    usage: Usage | None
    error: str = ""
    request: str = ""


AcpEvent: TypeAlias = (
    FolderNamed
    | LoadBegan
    | SessionShown
    | PromptSeen
    | SpeechSeen
    | CallSeen
    | PlanSeen
    | UsageSeen
    | ModelSeen
    | TitleSeen
    | CommandsSeen
    | WriteSeen
    | TerminalSeen
    | SessionLeft
    | PromptEnded
)


@dataclass(frozen=True, slots=True)
class Talk:
    """What is known of both sides; `asked` has the editor's requests, `wanted` the agent's."""

    agent: str = ""
    knows_us: bool = False
    asked: Mapping[str, JsonObject] = field(default_factory=dict)
    wanted: Mapping[str, JsonObject] = field(default_factory=dict)


Folded: TypeAlias = tuple[Talk, tuple[AcpEvent, ...]]


def from_editor(talk: Talk, message: JsonObject) -> Folded:
    method, params = message.get("method"), _object(message.get("params"))
    if not isinstance(method, str):
        wanted, request = _taken(talk.wanted, message)
        if request is None or "result" not in message:
            return replace(talk, wanted=wanted), ()
        return replace(talk, wanted=wanted), _granted(request, _object(message.get("result")))
    if "id" in message:
        talk = replace(talk, asked=_kept(talk.asked, message))
    session = _text(params.get("sessionId"))
    if method in _OPENING and (cwd := _text(params.get("cwd"))):
        named = FolderNamed(session, cwd)
        return talk, (named, LoadBegan(session, cwd)) if method == "session/load" else (named,)
    if method == "session/prompt":
        blocks = tuple(one for one in _list(params.get("prompt")) if isinstance(one, dict))
        return talk, (PromptSeen(session, key_of(message), blocks),)
    return talk, ()


def from_agent(talk: Talk, message: JsonObject) -> Folded:
    method, params = message.get("method"), _object(message.get("params"))
    if method == "session/update":
        update = _object(params.get("update"))
        return talk, tuple(_updated(_text(params.get("sessionId")), update))
    if isinstance(method, str):
        if "id" not in message or method not in WANTED:
            return talk, ()
        return replace(talk, wanted=_kept(talk.wanted, message)), ()
    asked, request = _taken(talk.asked, message)
    talk = replace(talk, asked=asked)
    if request is None:
        return talk, ()
    result = _object(message.get("result"))
    if request.get("method") == "initialize":
        about = _object(result.get("agentInfo"))
        meta = _object(_object(result.get("agentCapabilities")).get("_meta"))
        return replace(talk, agent=_text(about.get("name")), knows_us="sidecar" in meta), ()
    return talk, tuple(_answered(request, message, result))


def key_of(message: JsonObject) -> str:
    """A request's id; numbers and texts differ."""
    return repr(message.get("id"))


def _answered(request: JsonObject, message: JsonObject, result: JsonObject) -> Iterator[AcpEvent]:
    params, failed = _object(request.get("params")), "error" in message
    session = _text(params.get("sessionId"))
    match request.get("method"):
        case "session/prompt" if failed:
            error = _object(message.get("error"))
            text = _text(error.get("message")) or "it failed"
            yield PromptEnded(session, "error", None, text, key_of(request))
        case "session/prompt":
            stop = _text(result.get("stopReason")) or "end_turn"
            yield PromptEnded(session, stop, _usage(result.get("usage")), "", key_of(request))
        case "session/new" | "session/load" | "session/resume" | "session/fork" as how if (
            not failed
        ):
            named = session if how in ("session/load", "session/resume") else ""
            made = named or _text(result.get("sessionId"))
            source = session if how == "session/fork" else ""
            model, before = _model(result), how in ("session/load", "session/resume")
            if made:
                yield SessionShown(made, _text(params.get("cwd")), before, model, source)
        case "session/load":
            # What was said until then is not a history.
            yield SessionShown(session, "", before=True)
        case "session/close" | "session/delete" if not failed:
            yield SessionLeft(session)
        case "session/set_model" if not failed:
            yield ModelSeen(session, _text(params.get("modelId")))
        case "session/set_config_option" if not failed and (model := _model(result)):
            yield ModelSeen(session, model)
        case _:
            pass


def _updated(session: str, update: JsonObject) -> Iterator[AcpEvent]:
    match update.get("sessionUpdate"):
        case "agent_message_chunk":
            yield SpeechSeen(session, "agent", _words(update.get("content")))
        case "agent_thought_chunk":
            yield SpeechSeen(session, "thought", _words(update.get("content")))
        case "user_message_chunk":
            yield SpeechSeen(session, "user", _words(update.get("content")))
        case "tool_call" | "tool_call_update" if call_id := _text(update.get("toolCallId")):
            yield CallSeen(session, call_id, update)
        case "plan":
            entries = (one for one in _list(update.get("entries")) if isinstance(one, dict))
            yield PlanSeen(session, tuple(entries))
        case "usage_update":
            cost = _object(update.get("cost"))
            amount, dollars = cost.get("amount"), cost.get("currency") in ("USD", None)
            known = isinstance(amount, int | float) and dollars and 0 <= amount < MOST_COUNT
            used, size = _count(update.get("used")), _count(update.get("size"))
            yield UsageSeen(session, used, size, float(amount) if known else None)  # type: ignore[arg-type] # a number, as tested
        case "session_info_update" if title := _text(update.get("title")):
            yield TitleSeen(session, title)
        case "config_option_update" if model := _model(update):
            yield ModelSeen(session, model)
        case "available_commands_update":
            listed = (_object(one) for one in _list(update.get("availableCommands")))
            yield CommandsSeen(session, tuple(_text(one.get("name")) for one in listed))
        case _:
            pass


def _granted(request: JsonObject, result: JsonObject) -> tuple[AcpEvent, ...]:
    params = _object(request.get("params"))
    session, path = _text(params.get("sessionId")), _text(params.get("path"))
    if request.get("method") == "terminal/output":
        terminal, output = _text(params.get("terminalId")), _text(result.get("output"))
        return (TerminalSeen(session, terminal, output),)
    return (WriteSeen(session, path),) if path else ()


def _model(result: JsonObject) -> str:
    """The model in use, from either place where agents tell of it."""
    known = _text(_object(result.get("models")).get("currentModelId"))
    for option in map(_object, _list(result.get("configOptions"))):
        if option.get("category") == "model" or option.get("id") == "model":
            known = known or _text(option.get("currentValue"))
    return known


def _usage(given: Json) -> Usage | None:
    found = _object(given)
    if not found:
        return None
    return Usage(
        input=_count(found.get("inputTokens")),
        cache_read=_count(found.get("cachedReadTokens")),
        cache_write_5m=_count(found.get("cachedWriteTokens")),
        output=_count(found.get("outputTokens")),
        thinking=_count(found.get("thoughtTokens")),
    )


def _words(content: Json) -> str:
    block = _object(content)
    if block.get("type") == "text":
        return _text(block.get("text"))
    name = _text(block.get("uri")) or _text(block.get("mimeType"))
    return f"[{_text(block.get('type')) or 'content'}{': ' if name else ''}{name}]"


def _kept(pending: Mapping[str, JsonObject], message: JsonObject) -> dict[str, JsonObject]:
    kept = {**pending, key_of(message): message}
    for name in [*kept][: max(0, len(kept) - MOST_PENDING)]:
        del kept[name]
    return kept


def _taken(
    pending: Mapping[str, JsonObject], message: JsonObject
) -> tuple[Mapping[str, JsonObject], JsonObject | None]:
    name = key_of(message)
    if "id" not in message or name not in pending:
        return pending, None
    return {k: v for k, v in pending.items() if k != name}, pending[name]


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _count(value: Json) -> int:
    known = isinstance(value, int) and not isinstance(value, bool)
    return value if known and 0 <= value < MOST_COUNT else 0  # type: ignore[return-value,operator]

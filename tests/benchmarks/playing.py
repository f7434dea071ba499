"""Plays a recorded session through a real daemon, and keeps what was sent to the fake API.

The recording gives what the user typed, what the model said and what the tools gave; which part
of it each request carries is the daemon's own doing. A request is kept as its blocks, each kept
once, because a session's requests together are gigabytes.
"""

import json
import time
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from sidecar.core.conversation.turns import tool_parts
from sidecar.core.parts import Message, PartId, SessionId
from sidecar.replay.importers.own_store import stored_transcript
from sidecar.replay.transcript import Compacted, DamagedLine
from sidecar.session.log.rewrite_records import Recorded
from sidecar.store.connection import store_files
from sidecar.store.content import session_rows
from tests.e2e.plain import PlainClient
from tests.e2e.recorded import script
from tests.fakes.messages_api import FakeMessagesApi, Reply, text
from tests.fakes.validation import Body, plain
from tests.replay.recorded import messages_of, overheard, tokenizer
from tests.session.logged import rewrites_in

TURN_SECONDS = 1_800.0
MOST_STEPS = 5_000
"""Requests of one turn: a recording is not cut where it went on for long."""
LONGEST_PAUSE = 7_200.0
SYSTEM = (
    "You help people with their software. Read before you write, keep to the style that is there, "
    "run the tests that belong to what you changed, and say plainly what you could not do.\n"
)
SUMMARY = "## Decisions\n" + "\n".join(
    f"- Point {n}: what was agreed on stays as it is, for the reasons that were given."
    for n in range(1, 22)
)
"""A summary of some 600 tokens that names nothing: recall owes it nothing."""

Kind = Literal["text", "call", "result"]


@lru_cache(maxsize=50_000)
def _words_of(block: str) -> tuple[int, int]:
    """Count a block, given as JSON: (tokens of its words, tokens around them)."""
    given = json.loads(block)
    match given.get("type"):
        case "tool_use":
            words = given["name"] + json.dumps(given["input"], ensure_ascii=False)
            return tokenizer()(words), 15
        case "tool_result":
            return tokenizer()(_read(given["content"])), 10
        case "text":
            return tokenizer()(given["text"]), 3
        case _:
            return tokenizer()(block), 10


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """A block of a request: what the model reads of it, and its size in the fake's tokens.

    `text` of a call is its input's text; `call_id` is empty for a text.
    """

    kind: Kind
    typed: bool
    text: str
    call_id: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it came: its blocks and what the fake's cache made of it, in tokens."""

    pieces: tuple[Piece, ...]
    static: int
    read: int
    written: int
    uncached: int
    output: int
    cost: float

    @property
    def prompt(self) -> int:
        """All tokens of the prompt."""
        return self.read + self.written + self.uncached


class Listening(FakeMessagesApi):
    """The fake API; it keeps the pieces of each request in the place of its body.

    It counts as the recording's own provider did: `factor` tokens for one of the vocabulary's.
    """

    def __init__(self, offset: "Offset", factor: float) -> None:
        super().__init__(now=lambda: time.time() + offset.seconds)
        self._factor = factor
        self.cache.count = self._tokens
        self.asked: list[Asked] = []
        self.told: list[tuple[int, Asked]] = []
        self._pieces: dict[str, Piece] = {}
        self.summarise = lambda *_: text(SUMMARY, piece=4_000)

    def take(self, headers: dict[str, str], body: Body, content: bytes = b"") -> Reply:
        """Answer as ever, with what the answer takes, and let go of the body."""
        reply = super().take(headers, body, content)
        if reply.failure == "none":
            written = sum(self._tokens(plain(block)) for block in reply.blocks)
            reply = replace(reply, usage={**reply.usage, "output_tokens_final": written})
            asked = self._asked(body, reply)
            if headers.get("x-sidecar-purpose") == "summary":
                self.told.append((len(self.asked), asked))
            else:
                self.asked.append(asked)
        self.requests.clear()
        self.summaries.clear()
        return reply

    def _tokens(self, block: str) -> int:
        words, around = _words_of(block)
        return round(self._factor * words) + around

    def _asked(self, body: Body, reply: Reply) -> Asked:
        usage = reply.usage
        made = usage["cache_creation"]
        hour, short = made["ephemeral_1h_input_tokens"], made["ephemeral_5m_input_tokens"]
        output = usage["output_tokens_final"]
        pieces = [self._piece(m["role"], b) for m in body["messages"] for b in m["content"]]
        static = [*body.get("tools", []), *body.get("system", [])]
        read, uncached = usage["cache_read_input_tokens"], usage["input_tokens"]
        spent = 0.30 * read + 3.75 * short + 6.0 * hour + 3.0 * uncached + 15.0 * output
        return Asked(
            tuple(pieces),
            sum(self._tokens(plain(block)) for block in static),
            read,
            hour + short,
            uncached,
            output,
            spent / 1_000_000,
        )

    def _piece(self, role: str, block: Body) -> Piece:
        key = role + plain(block)
        piece = self._pieces.get(key)
        if piece is None:
            piece = self._pieces[key] = _piece(role, block, self._tokens(plain(block)))
        return piece


def _piece(role: str, block: Body, tokens: int) -> Piece:
    match block["type"]:
        case "tool_use":
            return Piece("call", False, _read(block["input"]), block["id"], tokens)
        case "tool_result":
            return Piece("result", False, _read(block["content"]), block["tool_use_id"], tokens)
        case _:
            return Piece("text", role == "user", block.get("text", ""), "", tokens)


def _read(value: Any) -> str:
    """Give the text in a call's input or a result's content, as the model reads it."""
    match value:
        case str():
            return value
        case {"type": "text", "text": str(words)}:
            return words
        case dict():
            return " ".join(map(_read, value.values()))
        case list():
            return " ".join(map(_read, value))
        case _:
            return ""


@dataclass
class Offset:
    """How far the clocks of the daemon and of the API are ahead."""

    file: Path
    seconds: float = 0.0

    def move(self, seconds: float) -> None:
        """Move both."""
        self.seconds += max(0.0, min(seconds, LONGEST_PAUSE))
        self.file.write_text(str(self.seconds))


@dataclass
class Played:
    """A recording that was played to its end, and what there is to measure it by.

    `typed` has for each request the message that its turn began with, `told` the requests for
    summaries, each with the number of the request that waited for it; `conversation` is made of
    the daemon's own log, and `calls` has the provider's id of each call in it. `limit` is what may
    be sent, in tokens.
    """

    name: str
    window: int
    limit: int
    typed: list[str]
    asked: list[Asked]
    told: list[tuple[int, Asked]]
    refused: list[str]
    notices: list[str]
    conversation: Any
    calls: dict[PartId, str]
    rewrites: list[Recorded]
    seconds: float


def play(path: Path, window: int, folder: Path, policy: str = "economic") -> Played:
    """Play a recording in a window of so many tokens; the daemon's data goes into `folder`."""
    recording, max_tokens = script(path), max(4_000, window // 16)
    talk = recorded(path)
    offset = Offset(folder / "clock")
    offset.move(0.0)
    typed: list[str] = []
    begun = time.perf_counter()
    with Listening(offset, talk.factor) as api:
        answers = {
            "tool/call": recording.answer,
            "session/request_permission": lambda _: {
                "outcome": {"outcome": "selected", "optionId": "always"}
            },
        }
        environment = {"SIDECAR_CLOCK_OFFSET_FILE": str(offset.file)}
        client = PlainClient(folder / "data", answers, environment)
        try:
            provider = {"name": "anthropic", "baseUrl": api.url, "apiKey": "sk-test"}
            config = {"max_steps": MOST_STEPS, "server_summaries": False}
            client.start(model="claude-sonnet-4-6", provider=provider, config=config)
            system = _system(min(talk.static, window // 4), talk.factor)
            session = _open(client, folder, recording.tools, system, window, max_tokens, policy)
            before = recording.turns[0].at if recording.turns else 0.0
            for turn in recording.turns:
                offset.move(turn.at - before)
                before = turn.at
                api.script(*turn.answers)
                prompt = [{"type": "text", "text": turn.words}]
                params = {"sessionId": session, "prompt": prompt}
                done = client.request("session/prompt", params, TURN_SECONDS)
                assert done["stopReason"] == "end_turn", done
                typed += [turn.words] * (len(api.asked) - len(typed))
            assert client.stop() == 0, client.stderr
        finally:
            if client.process.poll() is None:
                client.kill()
    store = folder / "data" / store_files.NAME
    messages = _messages(store, session)
    return Played(
        path.name.split(".")[0],
        window,
        window - max_tokens,
        typed,
        api.asked,
        api.told,
        api.refused,
        _notices(client),
        overheard(messages, session, "sidecar"),
        {call.id: call.call_id for message in messages for call in tool_parts(message)},
        _rewrites(store, session),
        time.perf_counter() - begun,
    )


def recorded(path: Path) -> Any:
    """Read a recording as a replay does, for what its usage says of sizes."""
    return overheard(messages_of(path), path.name)


def _system(tokens: int, factor: float) -> str:
    return SYSTEM * max(1, round(tokens / (factor * tokenizer()(SYSTEM))))


def _open(
    client: PlainClient,
    folder: Path,
    names: list[str],
    system: str,
    window: int,
    max_tokens: int,
    policy: str,
) -> str:
    workspace = folder / "played"
    workspace.mkdir()
    described = {"inputSchema": {"type": "object"}}
    given = {
        "cwd": str(workspace),
        "tools": [{"name": name, "description": name, **described} for name in names],
        "builtinTools": False,
        "system": system,
        "window": window,
        "maxTokens": max_tokens,
        "policy": policy,
    }
    return str(client.request("session/new", given)["sessionId"])


def _messages(store: Path, session: str) -> list[Message]:
    entries = stored_transcript(store, session).entries
    return [entry for entry in entries if not isinstance(entry, Compacted | DamagedLine)]


def _rewrites(store: Path, session: str) -> list[Recorded]:
    stored = store_files.read(store, lambda con: session_rows.load(con, SessionId(session)))
    return rewrites_in(stored.records)


def _notices(client: PlainClient) -> list[str]:
    """Give what the daemon said to the user of its own accord."""
    return [str(update["message"]) for update in client.updates("notice")]

"""Windows of one daemon, each with the wire's own serving over a pipe in memory."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sidecar.core.parts import JsonObject
from sidecar.session.desk.sessions import Sessions
from sidecar.session.environment import Environment
from sidecar.wire.framing import FrameDecoder, encode
from sidecar.wire.server import serve
from tests.session.conftest import LIMIT, Desk


@dataclass(eq=False)
class Window:
    """One editor; `reads` is cleared where it takes no bytes, `broken` where it is dead.

    `answers` are to our requests.
    """

    desk: Desk
    answers: dict[str, Callable[[Any], Any]] = field(default_factory=dict)
    got: list[Any] = field(default_factory=list)
    reads: asyncio.Event = field(default_factory=asyncio.Event)
    broken: bool = False
    ended: int = 0

    def __post_init__(self) -> None:
        self.reads.set()
        self._sent: asyncio.Queue[bytes] = asyncio.Queue()
        self._decoder = FrameDecoder()
        self._number = 0
        self._arrived = asyncio.Event()
        self.sessions = Sessions(
            self._environment,
            self.desk.sessions.documents._buffers,
            self.desk.sessions.open,
            lambda _: {},
            lambda _: "",
            Path(),
        )
        self.served: asyncio.Task[int] | None = None

    async def _environment(self, options: JsonObject, root: Path | None) -> Environment:
        shared = await self.desk.sessions.shared.ready()

        async def end() -> None:
            self.ended += 1

        return replace(shared, resident=True, end=end)

    async def open(self, group: asyncio.TaskGroup, **capabilities: Any) -> None:
        """Serve, and greet."""
        self.served = group.create_task(
            serve(
                self.sessions,
                self._sent.get,
                self._write,
                version="0",
                on_initialized=_nothing,
                on_gone=_nothing,
                is_child=False,
            )
        )
        await self.ask("initialize", capabilities=capabilities)

    def send(self, method: str, **params: Any) -> int:
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        self._sent.put_nowait(encode(json.loads(json.dumps(message)), "headers"))
        return self._number

    def notify(self, method: str, **params: Any) -> None:
        message: Any = {"jsonrpc": "2.0", "method": method, "params": params}
        self._sent.put_nowait(encode(message, "headers"))

    def pass_on(self, data: bytes) -> None:
        self._sent.put_nowait(data)

    async def ask(self, method: str, **params: Any) -> Any:
        number = self.send(method, **params)
        await self.until(lambda: any(self._answers(m, number) for m in self.got))
        return next(m for m in self.got if self._answers(m, number)).get("result")

    async def prompt(self, session_id: str, words: str) -> Any:
        return await self.ask("session/prompt", sessionId=session_id, prompt=blocks(words))

    async def until(self, found: Callable[[], bool]) -> None:
        async with asyncio.timeout(LIMIT):
            while not found():
                self._arrived.clear()
                await self._arrived.wait()

    def told(self) -> str:
        """What the model said."""
        updates = [m["params"]["update"] for m in self.got if m.get("method") == "session/update"]
        said = [u for u in updates if u["sessionUpdate"] == "agent_message_chunk"]
        return "".join(u["content"]["text"] for u in said)

    def asked(self, method: str) -> list[Any]:
        return [m for m in self.got if m.get("method") == method and "id" in m]

    async def leave(self) -> None:
        """As a window that is killed."""
        assert self.served is not None
        self.go()
        async with asyncio.timeout(LIMIT):
            await self.served

    def go(self) -> None:
        self._sent.put_nowait(b"")

    async def _write(self, data: bytes) -> None:
        await self.reads.wait()
        if self.broken:
            raise BrokenPipeError
        for frame in self._decoder.feed(data):
            message: Any = frame.value  # type: ignore[union-attr]
            self.got.append(message)
            if "id" in message and (answer := self.answers.get(message.get("method"))):
                result = answer(message["params"])
                reply: Any = {"jsonrpc": "2.0", "id": message["id"], "result": result}
                self._sent.put_nowait(encode(reply, "headers"))
        self._arrived.set()

    @staticmethod
    def _answers(message: Any, number: int) -> bool:
        return message.get("id") == number and "method" not in message


def blocks(words: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": words}]


async def _nothing() -> None: ...

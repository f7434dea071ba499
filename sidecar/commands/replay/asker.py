"""Asks a model for `sidecar replay --judge`."""

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import replace
from decimal import Decimal
from typing import TypeVar

from sidecar.core.conversation.call_outcome import one_line
from sidecar.core.conversation.fold import Draft, fold
from sidecar.core.conversation.stream import AttemptFailed
from sidecar.core.errors import ModelFailed
from sidecar.core.parts import PartId, TextPart, Usage
from sidecar.core.prompt.pricing import ModelInfo, price
from sidecar.core.prompt.prompt import ModelRequest, Prompt
from sidecar.core.prompt.render import Block, Rendered, TextBlock
from sidecar.model.contract import Model
from sidecar.replay.judge.cases import CaseAnswer
from sidecar.replay.judge.questions import Question

AT_ONCE = 2
"""Requests in progress: providers refuse more of this size."""
LIMIT = 600.0
"""Seconds for an answer, all attempts together."""
TRIES = 2
"""Of one question with unreadable answers."""
T = TypeVar("T")


class UnreadAnswer(Exception):
    """The answers stayed unreadable after all tries."""


class Asker:
    """Asks one model; `most`: tokens of one answer.

    `cost`: USD, `None` after an unknown price.
    """

    def __init__(self, model: Model, info: ModelInfo, most: int) -> None:
        self.info = info
        self.most = most
        self.usage = Usage()
        self.cost: Decimal | None = Decimal(0)
        self._model = model
        self._turns = asyncio.Semaphore(AT_ONCE)

    async def ask(self, text: str, system: str = "") -> str:
        """Raises ModelFailed."""
        told = (Block(TextBlock(system), "system"),) if system else ()
        said = Rendered("user", (Block(TextBlock(text), "context"),))
        request = ModelRequest(self.info.id, Prompt((), told, (said,)), self.most, purpose="judge")
        draft = Draft()
        try:
            async with self._turns, asyncio.timeout(LIMIT):
                number = 0
                async for event in self._model.stream(request):
                    if isinstance(event, AttemptFailed):
                        draft = Draft()
                        continue
                    number += 1
                    draft = fold(draft, event, PartId(f"said {number}"))
        except TimeoutError:
            why = f"no answer within {LIMIT:.0f} seconds"
            raise ModelFailed(why, kind="network", retryable=True) from None
        finally:
            self._count(draft.usage)
        return "\n".join(part.text for part in draft.parts if isinstance(part, TextPart))

    def _count(self, usage: Usage) -> None:
        if not usage.prompt:
            return
        cost = price(self.info, usage)
        self.usage += replace(usage, requests=1)
        self.cost = None if cost is None or self.cost is None else self.cost + cost

    async def complete(
        self,
        what: str,
        system: str,
        questions: Sequence[Question],
        request: Callable[[Sequence[Question]], str],
        read: Callable[[str, Sequence[Question]], Mapping[str, T]],
    ) -> dict[str, T]:
        """Asks questions, and again for missing answers.

        Raises ModelFailed, or UnreadAnswer, which names `what`.
        """
        found: dict[str, T] = {}
        missing, reply = list(questions), ""
        for _ in range(TRIES):
            reply = await self.ask(request(missing), system)
            found.update(read(reply, missing))
            missing = [question for question in missing if question.id not in found]
            if not missing:
                return found
        raise UnreadAnswer(
            f"{what} could not be read for {len(missing)} of {len(questions)} questions; "
            f"the model said: {one_line(reply) or 'nothing'}"
        )

    def writer(self, loop: asyncio.AbstractEventLoop, stopped: threading.Event) -> CaseAnswer:
        """Returns a function by which a thread requests a summary, blocking.

        After `stopped`, nothing is sent.
        """

        def write(text: str) -> str:
            if stopped.is_set():
                raise CancelledError
            try:
                return asyncio.run_coroutine_threadsafe(self.ask(text), loop).result()
            except ModelFailed as error:
                raise ValueError(error.message) from None

        return write

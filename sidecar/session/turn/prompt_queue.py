"""Prompts in line, and who waits for their results."""

import asyncio
from dataclasses import dataclass, field

from sidecar.core.parts import Part
from sidecar.session.interface import PromptRequest, PromptResult


@dataclass(slots=True)
class Waiting:
    """A prompt that has not ended yet.

    `steered` are the prompts that joined its turn and get the turn's result too.
    """

    request: PromptRequest
    parts: tuple[Part, ...]
    result: "asyncio.Future[PromptResult]"
    cancelled: bool = False
    steered: list["asyncio.Future[PromptResult]"] = field(default_factory=list)


def answer(waiting: Waiting, result: PromptResult) -> None:
    """Give the result to everyone who waits for this turn."""
    for future in (waiting.result, *waiting.steered):
        if not future.done():
            future.set_result(result)


def fail(waiting: Waiting, error: Exception) -> None:
    """Tell everyone who waits that it cannot be done."""
    for future in (waiting.result, *waiting.steered):
        if not future.done():
            future.set_exception(error)

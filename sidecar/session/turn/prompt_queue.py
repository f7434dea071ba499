"""Prompts in line, and futures of results."""

import asyncio
from dataclasses import dataclass, field

from sidecar.core.parts import Part
from sidecar.session.interface import PromptRequest, PromptResult


@dataclass(slots=True)
class Waiting:
    """An unfinished prompt.

    `steered`: futures of those that joined the turn and share its result.
    """

    request: PromptRequest
    parts: tuple[Part, ...]
    result: "asyncio.Future[PromptResult]"
    cancelled: bool = False
    steered: list["asyncio.Future[PromptResult]"] = field(default_factory=list)


def answer(waiting: Waiting, result: PromptResult) -> None:
    """Set all prompts' result."""
    for future in (waiting.result, *waiting.steered):
        if not future.done():
            future.set_result(result)


def fail(waiting: Waiting, error: Exception) -> None:
    """Set all prompts' error."""
    for future in (waiting.result, *waiting.steered):
        if not future.done():
            future.set_exception(error)

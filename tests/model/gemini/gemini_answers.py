"""Models that ask the fake API, and what they are asked; closed by the test that has them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from sidecar.core.conversation.stream import StreamEvent
from sidecar.core.errors import ModelFailed
from sidecar.core.prompt.prompt import ModelRequest, Prompt, ToolSpec
from sidecar.model.gemini.gemini_model import GeminiModel
from sidecar.model.stalls import AnswerLimits, limits
from tests.core.prompts import Rendered, system, user
from tests.fakes.gemini_api import KEY, FakeGeminiApi, Reply
from tests.model.hosted_answers import Draft, at, folded, patience

NEW, OLD = "gemini-3.8-flash", "gemini-2.5-pro"
LOOK = ToolSpec("look", "Looks.", {"type": "object", "properties": {"at": {"type": "string"}}})


@asynccontextmanager
async def gemini(
    api: FakeGeminiApi | str,
    key: str = KEY,
    *,
    stall: float = 5.0,
    limited: Callable[[int, float], AnswerLimits] = limits,
) -> AsyncIterator[GeminiModel]:
    """A model that waits for retries a hundredth of a second at most."""
    url, original = api if isinstance(api, str) else api.url, asyncio.sleep
    made = GeminiModel(
        at(url, key, "gemini"),
        now=lambda: 1_700_000_000_000,
        random=lambda: 1.0,
        patience=patience(),
        stall=stall,
        limits=limited,
    )
    with pytest.MonkeyPatch.context() as patched:
        quick: Any = lambda seconds: original(min(seconds, 0.01))  # noqa: E731
        patched.setattr("sidecar.model.hosted.asyncio.sleep", quick)
        try:
            yield made
        finally:
            await made.aclose()


def request(*messages: Rendered, model: str = NEW) -> ModelRequest:
    prompt = Prompt((LOOK,), system("Be brief."), messages or (user("hello"),))
    return ModelRequest(model, prompt, 99)


async def gather(source: GeminiModel, asked: ModelRequest | None = None) -> list[StreamEvent]:
    async with asyncio.timeout(30):
        return [event async for event in source.stream(asked or request())]


async def answer(api: FakeGeminiApi, reply: Reply) -> Draft:
    api.script(reply)
    async with gemini(api) as source:
        return folded(await gather(source))


async def failure(api: FakeGeminiApi | str, *replies: Reply, key: str = KEY) -> ModelFailed:
    if isinstance(api, FakeGeminiApi):
        api.script(*replies)
    async with gemini(api, key) as source:
        with pytest.raises(ModelFailed) as failed:
            await gather(source)
    return failed.value

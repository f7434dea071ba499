"""Models of Chat Completions whose retries wait a hundredth of their time."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any, Protocol

import pytest

from sidecar.model.chat.chat_model import ChatModel
from sidecar.model.chat.dialects import DIALECTS
from tests.fakes.chat_api import FakeChatApi
from tests.model.hosted_answers import GIVEN, at, patience


class Hosted(Protocol):
    def __call__(self, api: FakeChatApi, *, stall: float = 5.0, **changed: Any) -> ChatModel:
        """Give a model that speaks to this server in its dialect, but for what is changed."""
        ...


@pytest.fixture
async def hosted(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Hosted]:
    original, opened = asyncio.sleep, list[ChatModel]()
    monkeypatch.setattr("sidecar.model.hosted.asyncio.sleep", lambda s: original(min(s, 0.01)))

    def make(api: FakeChatApi, *, stall: float = 5.0, **changed: Any) -> ChatModel:
        url = api.origin if api.dialect == "azure" else api.url
        endpoint = at(url, name=api.dialect)
        dialect = replace(DIALECTS[api.dialect], **{"silent": 1.0, **changed})
        opened.append(ChatModel(endpoint, dialect, patience=patience(), stall=stall, **GIVEN))
        return opened[-1]

    yield make
    for one in opened:
        await one.aclose()

"""Models of the Responses API whose retries wait a hundredth of their time."""

import asyncio
from collections.abc import AsyncIterator
from typing import Protocol

import pytest

from sidecar.model.responses.response_items import ResponseOptions
from sidecar.model.responses.responses_model import SILENT, ResponsesModel
from tests.fakes.responses_api import FakeResponsesApi
from tests.model.hosted_answers import GIVEN, at, patience


class Hosted(Protocol):
    def __call__(self, api: FakeResponsesApi, *, stall: float = 5.0) -> ResponsesModel: ...


@pytest.fixture
async def hosted(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Hosted]:
    original, opened = asyncio.sleep, list[ResponsesModel]()
    monkeypatch.setattr("sidecar.model.hosted.asyncio.sleep", lambda s: original(min(s, 0.01)))

    def make(api: FakeResponsesApi, *, stall: float = 5.0) -> ResponsesModel:
        opened.append(
            ResponsesModel(
                at(api.url),
                options=ResponseOptions(),
                patience=patience(),
                stall=stall / SILENT,
                **GIVEN,
            )
        )
        return opened[-1]

    yield make
    for one in opened:
        await one.aclose()

"""A ping through the real SDK: it reads the whole prefix, and gives nothing back."""

from dataclasses import replace

import pytest

from sidecar.core.errors import ModelFailed
from sidecar.model.offline import OfflineModel
from tests.fakes.messages_api import FakeMessagesApi, status, text
from tests.model.test_anthropic_stream import gather, model, request


async def test_a_ping_reads_what_the_last_request_wrote() -> None:
    long = request("a long story, told once more. " * 400)
    with FakeMessagesApi() as api:
        api.script(text("hi"), text(""))
        asked = model(api)
        await gather(asked, long)
        usage = await asked.ping(replace(long, max_tokens=0))
        assert api.refused == []
        first, second = (r.body for r in api.requests)
        assert {**second, "max_tokens": 99, "stream": True} == first
        assert usage is not None
        assert usage.cache_read > 2_000
        assert usage.output == 0


async def test_a_ping_that_fails_says_so_and_is_not_repeated() -> None:
    with FakeMessagesApi() as api:
        api.script(status(529))
        with pytest.raises(ModelFailed):
            await model(api).ping(replace(request(), max_tokens=0))
        assert len(api.requests) == 1


async def test_the_offline_model_caches_nothing() -> None:
    assert await OfflineModel(len).ping(request()) is None

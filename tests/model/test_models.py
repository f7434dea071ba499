"""How often and how long a model is asked again is as the settings say."""

from collections.abc import AsyncIterator, Callable

import pytest

from sidecar.config import Config, Provider, Retry
from sidecar.config.readers import Secret
from sidecar.core.errors import ModelFailed
from sidecar.core.prompt.prompt import ModelRequest, Prompt
from sidecar.model.models import Models
from tests.core.prompts import user
from tests.fakes.messages_api import FakeMessagesApi, status, text

HELLO = user("Hello.")
MODEL = "claude-test"


@pytest.fixture
async def models() -> AsyncIterator[Callable[[FakeMessagesApi, Retry], Models]]:
    made = Models(now=lambda: 1_700_000_000_000, random=lambda: 1.0)

    def configured(api: FakeMessagesApi, retry: Retry) -> Models:
        provider = Provider(base_url=api.url, api_key=Secret("sk-of-the-settings"))
        made.configure(Config(model=MODEL, provider=provider, retry=retry))
        return made

    yield configured
    await made.aclose()


async def ask(models: Models) -> None:
    source = models.model_for(MODEL)
    async for _ in source.stream(ModelRequest(MODEL, Prompt((), (), (HELLO,), ()), 99)):
        pass


async def test_a_model_is_asked_as_often_as_is_set(
    models: Callable[[FakeMessagesApi, Retry], Models],
) -> None:
    """Ten times unless set, and this could pass."""
    with FakeMessagesApi() as api:
        api.script(*[status(529, "overloaded_error", retry_after="0")] * 3)
        with pytest.raises(ModelFailed):
            await ask(models(api, Retry(attempts=1)))
        assert len(api.requests) == 1


@pytest.mark.parametrize(("most", "asked"), [(999, 1), (1000, 2)])
async def test_a_longer_wait_than_is_set_is_told_instead(
    models: Callable[[FakeMessagesApi, Retry], Models], most: int, asked: int
) -> None:
    """The provider asks to wait for a second."""
    with FakeMessagesApi() as api:
        api.script(status(529, "overloaded_error", retry_after="1"), text("Late."))
        if most < 1000:
            with pytest.raises(ModelFailed, match="longer than the 1 that are waited by itself"):
                await ask(models(api, Retry(cap_ms=most)))
        else:
            await ask(models(api, Retry(cap_ms=most)))
        assert len(api.requests) == asked


async def test_no_longer_is_waited_in_all_than_is_set(
    models: Callable[[FakeMessagesApi, Retry], Models],
) -> None:
    with FakeMessagesApi() as api:
        api.script(*[status(529, "overloaded_error", retry_after="0.1")] * 9)
        with pytest.raises(ModelFailed, match="overloaded"):
            await ask(models(api, Retry(total_ms=250)))
        assert len(api.requests) == 3


@pytest.mark.parametrize("code", [429, 500, 502, 503, 504, 520, 522, 524, 529, 599])
async def test_every_fault_of_a_server_is_tried_again(
    models: Callable[[FakeMessagesApi, Retry], Models], code: int
) -> None:
    with FakeMessagesApi() as api:
        api.script(*[status(code, "api_error", retry_after="0")] * 2, text("At last."))
        await ask(models(api, Retry()))
        assert len(api.requests) == 3

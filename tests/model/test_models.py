"""How often and how long a model is asked again is as the settings say."""

import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from decimal import Decimal

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.credentials import SimpleCredential

from sidecar.config import Config, Provider, Retry
from sidecar.config.loading import load
from sidecar.config.provider_settings import NamedProvider
from sidecar.config.readers import Secret
from sidecar.core.errors import BadRequest, ModelFailed
from sidecar.core.prompt.prompt import ModelRequest, Prompt
from sidecar.extras import adding
from sidecar.model.catalogue import lookup
from sidecar.model.models import Models
from sidecar.model.suggestions import missing
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


def named(api: FakeMessagesApi, **more: str) -> Config:
    table = {"kind": "anthropic", "base_url": api.url, **more}
    variables = {"WORK_KEY": "sk-of-a-variable"}
    config, problems = load(
        workspace=None, environment=variables, options={"providers": {"work": table}}
    )
    assert problems == ()
    return config


async def asked_for(config: Config, api: FakeMessagesApi, model: str) -> tuple[str, str]:
    """The id and the key that the provider got."""
    models = Models(now=lambda: 0, random=lambda: 1.0)
    models.configure(config)
    api.script(text("Yes."))
    request = ModelRequest(model, Prompt((), (), (HELLO,), ()), 99)
    async for _ in models.model_for(model).stream(request):
        pass
    await models.aclose()
    [asked] = api.requests
    return str(asked.body["model"]), asked.headers["authorization"].removeprefix("Bearer ")


async def test_a_named_provider_gets_its_own_id_and_key() -> None:
    with FakeMessagesApi() as api:
        config = named(api, api_key="env:WORK_KEY")
        assert await asked_for(config, api, "work/claude-x") == ("claude-x", "sk-of-a-variable")


async def test_the_usual_provider_has_a_name_too() -> None:
    with FakeMessagesApi() as api:
        provider = Provider(base_url=api.url, api_key=Secret("sk-usual"))
        found = await asked_for(Config(provider=provider), api, "anthropic/claude-x")
        assert found == ("claude-x", "sk-usual")


class Ring(KeyringBackend):
    priority = 1

    def get_password(self, service: str, username: str) -> str | None:
        return {"work": "sk-of-the-ring"}.get(service)

    def get_credential(self, service: str, username: str | None) -> SimpleCredential | None:
        found = self.get_password(service, "")
        return None if found is None else SimpleCredential("me", found)

    def set_password(self, service: str, username: str, password: str) -> None:
        raise NotImplementedError


async def test_a_key_comes_from_the_keyring() -> None:
    before = keyring.get_keyring()
    keyring.set_keyring(Ring())
    try:
        with FakeMessagesApi() as api:
            config = named(api, api_key="keyring:work")
            assert await asked_for(config, api, "work/claude-x") == ("claude-x", "sk-of-the-ring")
        with FakeMessagesApi() as api, pytest.raises(ModelFailed, match="keyring has no key for x"):
            await asked_for(named(api, api_key="keyring:x"), api, "work/claude-x")
    finally:
        keyring.set_keyring(before)


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ({"kind": "elsewhere"}, "work.kind must be one of anthropic,"),
        ({"kind": "openai", "url": "x"}, "work has kind, base_url and api_key, not url"),
        ({"kind": "openai", "base_url": "example.org"}, "must begin with http"),
        ({}, "work.kind must be one of"),
        ("openai", "work must be a table of texts"),
    ],
)
def test_a_provider_that_cannot_be_is_told(table: object, told: str) -> None:
    with pytest.raises(BadRequest, match=told):
        load(workspace=None, environment={}, options={"providers": {"work": table}})


@pytest.mark.parametrize(
    ("model", "window", "price"),
    [
        ("openai/gpt-5.2", 400_000, True),
        ("gemini/gemini-2.5-pro", 1_000_000, True),
        ("ollama/qwen3", 32_768, True),
        ("work/claude-opus-5-5", 1_000_000, True),
        ("openai/unheard-of", 200_000, False),
    ],
)
def test_named_models_have_sizes_and_prices(model: str, window: int, price: bool) -> None:
    models = Models(now=lambda: 0, random=lambda: 1.0)
    with FakeMessagesApi() as api:
        config = named(api)
    models.configure(replace(config, providers=(*config.providers, *OTHERS)))
    info = models.info(model)
    assert info.id == model
    assert (info.window, info.price is not None) == (window, price)


def test_a_cloud_that_is_usual_has_its_prices_by_region(monkeypatch: pytest.MonkeyPatch) -> None:
    models = Models(now=lambda: 0, random=lambda: 1.0)
    models.configure(Config(provider=Provider(name="vertex")))
    found = []
    for region in ("global", "europe-west1"):
        monkeypatch.setenv("CLOUD_ML_REGION", region)
        info = models.info("claude-opus-4-5@20251101")
        found.append(info.price and info.price.input)
    assert found == [5, Decimal("5.5")]
    assert models.info("offline").price == lookup("offline").price


@pytest.mark.parametrize(
    ("usual", "model", "offered"),
    [
        ("anthropic", "claude-opus-5-5", True),
        ("anthropic", "claude-sonnet-4-6-20260217", True),
        ("anthropic", "claude-haiku-5-5", False),
        ("anthropic", "claude-opus-4-5", False),
        ("anthropic", "vertex/claude-opus-5-5@20260901", True),
        ("anthropic", "foundry/claude-opus-5-5", True),
        ("anthropic", "bedrock/anthropic.claude-opus-5-5", False),
        ("bedrock", "anthropic.claude-opus-5-5", False),
        ("anthropic", "openrouter/anthropic/claude-opus-5-5", False),
        ("anthropic", "openai/gpt-5.5", False),
        ("anthropic", "offline", False),
    ],
)
def test_compaction_is_known_where_a_provider_offers_it(
    usual: str, model: str, offered: bool
) -> None:
    models = Models(now=lambda: 0, random=lambda: 1.0)
    models.configure(Config(provider=Provider(usual)))
    assert models.info(model).compaction == (16_384 if offered else 0)


OTHERS = (NamedProvider("openai", "openai"), NamedProvider("gemini", "gemini"))


def test_what_a_provider_lacks_is_told_with_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    named = NamedProvider("work", "openai", api_key="k")
    assert missing(named, how=True) == ""
    monkeypatch.setitem(sys.modules, "openai", None)
    assert missing(named) == "install the extra `openai`"
    assert missing(named, how=True) == f"install the extra `openai`: {adding('openai')}"

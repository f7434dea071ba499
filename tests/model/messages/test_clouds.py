"""The real SDK against Bedrock and Vertex: whole answers, and what fails says what to do."""

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import pytest

from sidecar.core.conversation.stream import AttemptFailed
from sidecar.core.errors import ModelFailed
from sidecar.core.prompt.prompt import Breakpoint, ModelRequest
from sidecar.model.endpoint import Endpoint
from sidecar.model.messages.anthropic_model import AnthropicModel
from tests.core.prompts import user
from tests.fakes.cloud_apis import AWS, FakeBedrockApi, FakeVertexApi
from tests.fakes.messages_api import (
    FakeMessagesApi,
    Reply,
    broken,
    status,
    text,
    thinking,
    tools,
)
from tests.model.hosted_answers import GIVEN, asking, folded, gather, patience, replied, shown

pytestmark = pytest.mark.long

IDS = {"bedrock": "eu.anthropic.claude-sonnet-4-6-v1:0", "vertex": "claude-sonnet-4-6@20251101"}
LOOK = thinking("hm", "sig", tools(("t1", "look", {"at": 1}), words="Looking."))


class Asking(Protocol):
    def __call__(self, key: str = "", address: str | None = None) -> AnthropicModel:
        """Give a model of the cloud."""
        ...


@pytest.fixture(params=["bedrock", "vertex"])
def cloud(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[FakeMessagesApi]:
    with ExitStack() as stack:
        account = AWS
        api: FakeMessagesApi
        if request.param == "bedrock":
            api = stack.enter_context(FakeBedrockApi())
        else:
            api = stack.enter_context(FakeVertexApi())
            account = api.account(tmp_path)
        for name, value in account.items():
            monkeypatch.setenv(name, value)
        # The SDK keeps what it found of an account.
        if kept := sys.modules.get("anthropic.lib.aws._auth"):
            kept._get_session.cache_clear()
        yield api


@pytest.fixture
async def made(cloud: FakeMessagesApi, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Asking]:
    original, opened = asyncio.sleep, list[AnthropicModel]()
    monkeypatch.setattr("sidecar.model.hosted.asyncio.sleep", lambda s: original(min(s, 0.01)))

    def make(key: str = "", address: str | None = None) -> AnthropicModel:
        endpoint = Endpoint(kind(cloud), cloud.url if address is None else address, key)
        opened.append(AnthropicModel(endpoint, patience=patience(), stall=1, **GIVEN))
        return opened[-1]

    yield make
    for one in opened:
        await one.aclose()


def kind(cloud: FakeMessagesApi) -> str:
    return "bedrock" if isinstance(cloud, FakeBedrockApi) else "vertex"


def asked(
    cloud: FakeMessagesApi, given: ModelRequest | None = None, model: str = ""
) -> ModelRequest:
    return replace(given or asking(), model=model or IDS[kind(cloud)])


async def test_a_turn_with_a_tool_goes_there_and_back(cloud: FakeMessagesApi, made: Asking) -> None:
    cloud.script(LOOK, text("done"))
    source = made()
    draft = folded(await gather(source, asked(cloud)))
    assert shown(draft) == [
        ("thought", "hm"), ("text", "Looking."), ("call", "t1", "look", {"at": 1}),
    ]  # fmt: skip
    after = asking(user("hello"), *replied(draft))
    marked = replace(after.prompt, breakpoints=(Breakpoint(None, 1, "1h"), Breakpoint(2, 0)))
    last = folded(await gather(source, asked(cloud, replace(after, prompt=marked))))
    assert (cloud.refused, last.stop) == ([], "end_turn")
    sent = cloud.requests[1].body
    assert sent["messages"][1]["content"][0]["signature"] == "sig"
    marks = [sent["system"][1]["cache_control"], sent["messages"][2]["content"][0]["cache_control"]]
    assert marks == [{"type": "ephemeral", "ttl": "1h"}, {"type": "ephemeral"}]
    assert "x-sidecar-purpose" in cloud.requests[0].headers


async def test_a_ping_reads_the_prompt(cloud: FakeMessagesApi, made: Asking) -> None:
    usage = await made().ping(asked(cloud))
    assert (usage.output, usage.requests, cloud.refused) == (0, 1, [])


FAILURES = {
    "api error event": broken("error_event", error="api_error"),
    "early end": broken("early_end"),
    "garbage": broken("garbage"),
}


@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
async def test_what_can_pass_is_tried_again(
    cloud: FakeMessagesApi, made: Asking, failure: Reply
) -> None:
    cloud.script(failure, text("the whole answer"))
    events = await gather(made(), asked(cloud))
    (failed,) = [event for event in events if isinstance(event, AttemptFailed)]
    assert failed.attempt == 1
    assert [part.text for part in folded(events).parts] == ["the whole answer"]


async def failing(source: AnthropicModel, given: ModelRequest) -> ModelFailed:
    with pytest.raises(ModelFailed) as failed:
        await gather(source, given)
    assert not failed.value.retryable
    return failed.value


async def test_a_model_that_is_not_there_says_what_to_check(
    cloud: FakeMessagesApi, made: Asking
) -> None:
    failed = await failing(made(), asked(cloud, model="gpt-5"))
    assert "check the model's id, and the region in " in failed.message
    assert len(cloud.refused) == 1


@pytest.mark.parametrize(
    "ident",
    [
        "anthropic.claude-opus-5-5",
        "global.anthropic.claude-haiku-4-5-20251001-v1:0",
        "arn:aws:bedrock:eu-west-1:123456789012:inference-profile/eu.anthropic.claude-opus-5-5",
        "arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/a1b2c3",
    ],
)
@pytest.mark.parametrize("cloud", ["bedrock"], indirect=True)
async def test_every_kind_of_id_is_signed_for(
    cloud: FakeMessagesApi, made: Asking, ident: str
) -> None:
    await gather(made(), asked(cloud, model=ident))
    assert [cloud.refused, cloud.requests[0].body["model"]] == [[], ident]


@pytest.mark.parametrize("cloud", ["bedrock"], indirect=True)
async def test_bedrocks_own_key_needs_no_credentials(
    cloud: FakeMessagesApi, made: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    await gather(made(AWS["AWS_SESSION_TOKEN"]), asked(cloud))
    assert cloud.refused == []


MISSING = {
    "no region": ("AWS_REGION", "CLOUD_ML_REGION", "region"),
    "no account": ("AWS_ACCESS_KEY_ID", "GOOGLE_APPLICATION_CREDENTIALS", "credentials"),
    "half of it": ("AWS_SECRET_ACCESS_KEY", "ANTHROPIC_VERTEX_PROJECT_ID", "_"),
}


@pytest.mark.parametrize(("aws", "google", "told"), MISSING.values(), ids=MISSING)
async def test_an_account_that_is_not_whole_says_what_is_missing(
    cloud: FakeMessagesApi, made: Asking, aws: str, google: str, told: str,
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
) -> None:  # fmt: skip
    for name in ("HOME", "CLOUDSDK_CONFIG"):
        monkeypatch.setenv(name, str(tmp_path / "empty"))
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    monkeypatch.delenv(aws if kind(cloud) == "bedrock" else google)
    failed = await failing(made(), asked(cloud))
    assert told in failed.message
    if "REGION" not in aws:
        assert failed.failure == "authentication"
        assert ("AWS_PROFILE" if kind(cloud) == "bedrock" else "gcloud auth") in failed.message
    assert cloud.requests == []


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("AWS_ACCESS_KEY_ID", "AKIDOFANOTHER"),
        ("AWS_SECRET_ACCESS_KEY", "x"),
        ("AWS_REGION", "us-1"),
    ],
)
@pytest.mark.parametrize("cloud", ["bedrock"], indirect=True)
async def test_a_wrong_account_or_region_says_what_to_check(
    cloud: FakeMessagesApi, made: Asking, variable: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    failed = await failing(made(), asked(cloud))
    assert (failed.failure, failed.status) == ("authentication", 403)
    assert "AWS_REGION, and that the account may use the model there" in failed.message


async def test_an_account_that_was_renewed_is_found(
    cloud: FakeMessagesApi, made: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = made()
    if kind(cloud) == "bedrock":
        monkeypatch.setenv("AWS_SESSION_TOKEN", "expired")
    await gather(source, asked(cloud))
    cloud.script(status(403, message="The security token included in the request is expired"))
    assert (await failing(source, asked(cloud))).failure == "authentication"
    monkeypatch.setenv("AWS_SESSION_TOKEN", "renewed")
    await gather(source, asked(cloud))
    if isinstance(cloud, FakeVertexApi):
        assert cloud.tokens == 2
    else:
        tokens = [one.headers["x-amz-security-token"] for one in cloud.requests]
        assert tokens == ["expired", "expired", "renewed"]


@pytest.mark.parametrize("cloud", ["vertex"], indirect=True)
async def test_a_wrong_region_says_what_to_check(
    cloud: FakeMessagesApi, made: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLOUD_ML_REGION", "mars-east1")
    failed = await failing(made(), asked(cloud))
    assert "the region in CLOUD_ML_REGION and the project" in failed.message
    assert "[{" not in failed.message


async def test_a_missing_package_is_named(
    cloud: FakeMessagesApi, made: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = {"bedrock": "boto3", "vertex": "google.auth"}[kind(cloud)]
    monkeypatch.setitem(sys.modules, package, None)
    failed = await failing(made(), asked(cloud))
    assert f"needs the package {package}" in failed.message
    assert f"[{kind(cloud)}]'`" in failed.message

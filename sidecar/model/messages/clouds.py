"""Clouds that pass the Messages API on, as data."""

import sys
from collections.abc import Mapping
from typing import Any, Final

from sidecar.core.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Cloud:
    """`package` is imported, by the SDK's `extra`."""

    client: str
    package: str = ""
    extra: str = ""
    version: str = ""
    keyed: bool = False
    # Whether the client writes into the body, which others get as bytes.
    rewritten: bool = False
    account: str = ""
    place: str = ""


CLOUDS: Final[Mapping[str, Cloud]] = {
    "anthropic": Cloud("AsyncAnthropic"),
    "bedrock": Cloud(
        "AsyncAnthropicBedrock",
        package="boto3",
        extra="bedrock",
        # Anthropic, Claude on Amazon Bedrock, 2026-11: models that are versioned by ARN refuse the
        # version that the SDK sends.
        version="bedrock-2023-05-31",
        keyed=True,
        rewritten=True,
        account="check AWS's credentials (AWS_PROFILE, or AWS_ACCESS_KEY_ID and "
        "AWS_SECRET_ACCESS_KEY), AWS_REGION, and that the account may use the model there",
        place="the region in AWS_REGION",
    ),
    "vertex": Cloud(
        "AsyncAnthropicVertex",
        package="google.auth",
        extra="vertex",
        rewritten=True,
        account="check Google's credentials (`gcloud auth application-default login`, or "
        "GOOGLE_APPLICATION_CREDENTIALS), ANTHROPIC_VERTEX_PROJECT_ID, CLOUD_ML_REGION, and that "
        "the project may use the model there",
        place="the region in CLOUD_ML_REGION and the project",
    ),
    "foundry": Cloud("AsyncAnthropicFoundry", keyed=True),
}


def advice(cloud: Cloud) -> dict[str, str]:
    if not cloud.account:
        return {}
    return {
        "authentication": cloud.account,
        "model": f"check the model's id, and {cloud.place}",
        "network": f"check the connection, and {cloud.place}, then send the prompt again",
    }


def is_unsent(error: Exception) -> bool:
    if type(error) is RuntimeError:
        return True
    known = type(error).__module__ in ("botocore.exceptions", "google.auth.exceptions")
    return known and type(error).__name__ != "TransportError"


def forget_account(client: Any) -> None:  # noqa: ANN401 - the SDK's, imported late
    # The account may have been renewed by the next request.
    client.credentials = None
    if kept := sys.modules.get("anthropic.lib.aws._auth"):
        kept._get_session.cache_clear()  # noqa: SLF001 - kept for the process's life

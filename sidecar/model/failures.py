"""Classifies failed model calls by attributes of the error.

Anthropic's SDK 2.11 reports a broken stream as an APIStatusError of status 200 (error event), a
transport error (drop, stall), or not at all (early end); OpenAI's 3.57 an error event as an
APIError without a status, if it sees one.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from types import MappingProxyType
from urllib.parse import urljoin, urlsplit

from sidecar.core.errors import ModelFailed, ModelFailure
from sidecar.core.parts import JsonObject, Millis
from sidecar.core.text.redaction import Redaction
from sidecar.model.stalls import Endless, Stalled

_PASSING_STATUS = frozenset({408, 409, 429})
_STREAM_RETRYABLE = frozenset(
    {
        "overloaded_error", "api_error", "rate_limit_error", "timeout_error",
        # Bedrock's.
        "throttlingException", "serviceUnavailableException", "internalServerException",
        "modelStreamErrorException", "modelTimeoutException",
    }
)  # fmt: skip
_OVERLOADED = ("overloaded_error", "throttlingException", "serviceUnavailableException")
_KINDS: dict[int, ModelFailure] = {
    401: "authentication",
    403: "authentication",
    413: "context_overflow",
    429: "rate_limit",
    529: "overloaded",
}
_MOST_SAID = 10_000
"""Characters of a provider's words."""
_ADVICE: dict[str, str] = {
    "authentication": "check the API key, or choose the model `offline`",
    "rate_limit": "wait a little, then send the prompt again",
    "overloaded": "the provider is overloaded: send the prompt again later",
    "context_overflow": (
        "the conversation is too long for the model: compact it (context/compact), "
        "or start a new session"
    ),
    "network": "check the connection and the provider's base URL, then send the prompt again",
    "interrupted": "the answer broke off: send the prompt again",
    "bad_request": "the provider refused the request",
    "model": "check the model's id (`sidecar models` lists some) and the provider's base URL",
}
_NO_MODEL = (
    "model identifier is invalid",
    "on-demand throughput",
    "model not exist",
    "is not a valid model",
)


_CODES: dict[str, tuple[ModelFailure, bool]] = {
    "context_length_exceeded": ("context_overflow", False),
    "exceed_context_size_error": ("context_overflow", False),
    "insufficient_quota": ("rate_limit", False),
    "rate_limit_exceeded": ("rate_limit", True),
    "server_error": ("overloaded", True),
    "server_is_overloaded": ("overloaded", True),
    "slow_down": ("overloaded", True),
    "insufficient_system_resource": ("overloaded", True),
}
"""Providers' words for a failure: its kind, and whether it may pass."""
_REFUSALS = (
    "invalid_", "image_", "unsupported_", "empty_image", "failed_to_download", "data_residency",
    "bio_policy", "misalignment_policy", "content_filter", "content_policy",
)  # fmt: skip
"""Beginnings of words for requests that stay wrong."""
_TOO_LONG = (
    "prompt is too long",
    "input is too long",
    "exceeded max context length",
    "exceeds the maximum number of tokens",
    "request payload size exceeds",
    "maximum context length",
    "exceeds the context window",
    "exceeds the available context size",
    "context size has been exceeded",
    "max_tokens must be at least 1, got -",
)


class EndedEarly(Exception):
    """The stream ended cleanly before the answer's end, or without an answer."""


class ToldFailure(Exception):
    """The stream told of a failure, by the provider's `code`."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


def classify(
    error: Exception, now: Millis, key: str = "", advice: Mapping[str, str] = MappingProxyType({})
) -> ModelFailed:
    """Redacts `key`, which some servers quote; `advice` stands before the usual."""
    failed = _told(error, now, key)
    if failed.status is not None and 300 <= failed.status < 400:
        return failed
    said, kind = failed.message.rstrip("."), str(failed.failure)
    unknown = failed.status == 404 or any(words in said.lower() for words in _NO_MODEL)
    if unknown and kind == "bad_request":
        kind = "model"
    told = advice.get(kind, _ADVICE[kind])
    failed.message = f"{said}; {told}" if said else told
    failed.args = (failed.message,)
    return failed


def _told(error: Exception, now: Millis, key: str) -> ModelFailed:
    status = getattr(error, "status_code", getattr(error, "code", None))
    kind_word = str(getattr(error, "type", "") or "")
    said = Redaction((key,) if key else ()).text(_said(error)[:_MOST_SAID])
    if isinstance(error, EndedEarly):
        said = str(error) or "the answer ended before it was complete"
        return _failed("interrupted", said, retryable=True)
    if isinstance(error, Stalled):
        return _failed("interrupted", str(error), retryable=True)
    if isinstance(error, Endless):
        return _failed("interrupted", str(error), retryable=False)
    if status == 200:
        if _is_too_long(said):
            return _failed("context_overflow", said, retryable=False)
        kind: ModelFailure = "overloaded" if kind_word in _OVERLOADED else "interrupted"
        return _failed(kind, said, retryable=kind_word in _STREAM_RETRYABLE or not kind_word)
    if isinstance(status, int):
        return _by_status(error, status, said, now)
    if _is_transport(error):
        return _failed("network", said or type(error).__name__, retryable=True)
    if words := _words(error):
        return _by_words(error, words, said, now)
    return _failed("interrupted", f"the answer could not be read: {said}", retryable=True)


def can_pass(status: int) -> bool:
    return status >= 500 or status in _PASSING_STATUS


def retry_after(headers: Mapping[str, str], now: Millis) -> float | None:
    """Returns seconds, by `retry-after-ms` or `retry-after` (seconds or date)."""
    exact = headers.get("retry-after-ms")
    if exact is not None and _is_number(exact):
        return max(0.0, float(exact) / 1000)
    value = headers.get("retry-after")
    if value is None:
        return None
    if _is_number(value):
        return max(0.0, float(value))
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now / 1000)
    except (TypeError, ValueError, OverflowError):
        return None


def _words(error: Exception) -> tuple[str, ...]:
    found = (getattr(error, "code", None), getattr(error, "type", None))
    return tuple(str(word) for word in found if isinstance(word, str | int) and word)


def _by_words(error: Exception, words: tuple[str, ...], said: str, now: Millis) -> ModelFailed:
    """Classifies a failure told within a stream."""
    for word in words:
        if word.isdigit() and 400 <= int(word) < 600:
            return _by_status(error, int(word), said, now)
        if known := _CODES.get(word):
            kind, passes = known
            return _failed(kind, said, retryable=passes)
    if _is_too_long(said):
        return _failed("context_overflow", said, retryable=False)
    if any(word.startswith(_REFUSALS) for word in words):
        return _failed("bad_request", said, retryable=False)
    return _failed("interrupted", said, retryable=True)


def _is_too_long(said: str) -> bool:
    return any(phrase in said.lower() for phrase in _TOO_LONG)


def _by_status(error: Exception, status: int, said: str, now: Millis) -> ModelFailed:
    if 300 <= status < 400:
        return _redirected(error, status)
    kind = _KINDS.get(status, "overloaded" if status >= 500 else "bad_request")
    words = _words(error)
    told = [_CODES[word] for word in words if word in _CODES]
    overflows = ("context_overflow", False) in told or _is_too_long(said)
    if overflows and status in (400, 422, 500):
        failed = _failed("context_overflow", said, retryable=False, status=status)
        return _identified(failed, error)
    details = list(_details(error))
    if any(one.get("reason") == "API_KEY_INVALID" for one in details):
        kind = "authentication"
    # A spend limit answers 429 until lifted, a day's quota until midnight: waiting does not help.
    limited = "spend" in str(getattr(error, "error_code", "") or "").lower()
    limited = limited or "Spend" in type(error).__name__ or "PerDay" in str(details)
    limited = limited or ("rate_limit", False) in told
    response = getattr(error, "response", None)
    headers = getattr(response, "headers", {})
    failed = _failed(kind, said, retryable=can_pass(status) and not limited, status=status)
    if can_pass(status):
        asked = retry_after(headers, now)
        failed.retry_after = _retry_delay(details) if asked is None else asked
    return _identified(failed, error)


def _identified(failed: ModelFailed, error: Exception) -> ModelFailed:
    request_id = getattr(error, "request_id", None)
    if isinstance(request_id, str):
        failed.data["requestId"] = request_id
    return failed


def _details(error: Exception) -> Iterator[JsonObject]:
    """Gives Google's details, such as `ErrorInfo` and `RetryInfo`."""
    match getattr(error, "details", None):
        case {"error": {"details": list(details)}}:
            yield from (one for one in details if isinstance(one, dict))
        case _:
            pass


def _retry_delay(details: Iterable[JsonObject]) -> float | None:
    for one in details:
        match one:
            case {"retryDelay": str(delay)} if _is_number(delay.removesuffix("s")):
                return max(0.0, float(delay.removesuffix("s")))
    return None


def _redirected(error: Exception, status: int) -> ModelFailed:
    # Redirects are not followed: conversation and key stay here.
    response = getattr(error, "response", None)
    asked, location = str(getattr(response, "url", "")), getattr(response, "headers", {})
    origin = "another address"
    with suppress(ValueError):
        to = urlsplit(urljoin(asked, location.get("location", "")))
        host = to.netloc.rpartition("@")[2]
        if to.scheme in ("http", "https") and host.isprintable() and len(host) < 256:
            origin = f"{to.scheme}://{host}"
    text = (
        f"the provider's address answers with a redirect to {origin}, and nothing was sent there: "
        "set provider.baseUrl to the address of the API itself, if you trust it"
    )
    return ModelFailed(text, kind="bad_request", status=status)


def _failed(
    kind: ModelFailure, said: str, *, retryable: bool, status: int | None = None
) -> ModelFailed:
    return ModelFailed(said, kind=kind, status=status, retryable=retryable)


def _said(error: Exception) -> str:
    # The SDK's own message quotes the request.
    body = getattr(error, "body", None)
    # Vertex answers with a list.
    body = body[0] if isinstance(body, list) and body else body
    inner = body.get("error") if isinstance(body, dict) else None
    for told in (inner, body):
        message = told.get("message") if isinstance(told, dict) else None
        if isinstance(message, str):
            return message
    return str(getattr(error, "message", "") or error)[:500]


def _is_transport(error: Exception) -> bool:
    modules = {cls.__module__.partition(".")[0] for cls in type(error).__mro__}
    names = {cls.__name__ for cls in type(error).__mro__}
    return bool(modules & {"httpx2", "httpcore2"}) or bool(
        names
        & {"APIConnectionError", "APITimeoutError", "TransportError", "TimeoutError", "OSError"}
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True

"""Streams answers of OpenAI's Responses API, or servers that speak it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sidecar.core.parts import JsonObject
from sidecar.core.prompt.prompt import ModelRequest, Prompt
from sidecar.model.bodies.piece_writer import PieceWriter
from sidecar.model.endpoint import Endpoint
from sidecar.model.openai.cache_key import static_key
from sidecar.model.openai.openai_model import OpenAiModel
from sidecar.model.responses.response_events import ItemDecoder
from sidecar.model.responses.response_items import (
    ResponseOptions,
    ResponseWriter,
    response_body,
)
from sidecar.model.stalls import STALL, AnswerLimits
from sidecar.model.vendor_caches import rules_of

OPENAI = "https://api.openai.com/v1"
SILENT = 2.5
"""Times the usual silence that is no stall: thinking that is not summarized shows in rare pings."""
NO_OPENAI_KEY = "there is no API key: set OPENAI_API_KEY or the provider's apiKey"


class ResponsesModel(OpenAiModel):
    """Keeps no state at the provider: each request is whole, its thinking encrypted.

    `cache_key` makes `prompt_cache_key` of a prompt; an empty one is not sent.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        cache_key: Callable[[Prompt], str] = static_key,
        options: ResponseOptions | None = None,
        stall: float = STALL,
        **given: Any,  # noqa: ANN401 - the base's
    ) -> None:
        super().__init__(endpoint, stall=stall * SILENT, **given)
        # Other servers may refuse what only OpenAI knows.
        self._options = options or ResponseOptions(phases=endpoint.hosted)
        self._cache_key = cache_key
        self._writers = {
            marked: ResponseWriter(replace(self._options, marked=marked))
            for marked in (False, True)
        }

    def body(self, request: ModelRequest) -> JsonObject:
        options = self._writer(request).options
        return response_body(request, options, self._cache_key(request.prompt))

    def _writer(self, request: ModelRequest) -> ResponseWriter:
        return self._writers[rules_of("openai", request.model).by == "marks"]

    def missing_key(self) -> str:
        return NO_OPENAI_KEY if self.endpoint.hosted and not self.endpoint.api_key else ""

    def path(self, request: ModelRequest) -> str:  # noqa: ARG002 - the base's
        return "/responses"

    def pieces(self, request: ModelRequest) -> PieceWriter:
        return self._writer(request).pieces

    def written(self, request: ModelRequest) -> bytes:
        return self._writer(request).write(request, self._cache_key(request.prompt))

    def decoder(self, allowed: AnswerLimits) -> ItemDecoder:
        return ItemDecoder(allowed, self.sdk)

    def account(self) -> tuple[str, dict[str, Any]]:
        # Local servers take any key; a key keeps the SDK from looking for others.
        key, address = self.endpoint.api_key or "none", self.endpoint.base_url or OPENAI
        return "AsyncOpenAI", {"api_key": key, "base_url": address}

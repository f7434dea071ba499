"""Streams answers of Chat Completions, in any dialect."""

from collections.abc import Callable
from typing import Any
from urllib.parse import quote, urlsplit

from sidecar.config.provider_settings import VARIABLES
from sidecar.core.errors import ModelFailed
from sidecar.core.parts import JsonObject
from sidecar.core.prompt.prompt import ModelRequest, Prompt
from sidecar.model.bodies.piece_writer import PieceWriter
from sidecar.model.chat.chat_body import ChatWriter, chat_body
from sidecar.model.chat.chat_chunks import ChunkDecoder
from sidecar.model.chat.dialects import Dialect
from sidecar.model.endpoint import Endpoint
from sidecar.model.openai.cache_key import static_key
from sidecar.model.openai.openai_model import OpenAiModel
from sidecar.model.stalls import STALL, AnswerLimits

_PATH = "/chat/completions"


class ChatModel(OpenAiModel):
    """Speaks to one endpoint in its dialect.

    `cache_key` makes `prompt_cache_key` of a prompt, where the dialect has one.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        dialect: Dialect,
        *,
        cache_key: Callable[[Prompt], str] = static_key,
        stall: float = STALL,
        **given: Any,  # noqa: ANN401 - the base's
    ) -> None:
        super().__init__(endpoint, stall=stall * dialect.silent, **given)
        self._dialect = dialect
        self._cache_key = cache_key
        self._writer = ChatWriter(dialect)

    def body(self, request: ModelRequest) -> JsonObject:
        return chat_body(request, self._dialect, self._key(request))

    def missing_key(self) -> str:
        """A custom address may need no key, but all of Azure's are custom."""
        dialect, endpoint = self._dialect, self.endpoint
        names = VARIABLES.get(dialect.name, ())
        if not names or endpoint.api_key or (endpoint.base_url and not dialect.api_version):
            return ""
        return f"there is no API key: set {names[0]} or the provider's apiKey"

    def path(self, request: ModelRequest) -> str:
        if self._azure and "/deployments/" not in self._address:
            return f"/deployments/{quote(request.model, safe='')}{_PATH}"
        return _PATH

    def pieces(self, request: ModelRequest) -> PieceWriter:  # noqa: ARG002 - the base's
        return self._writer.pieces

    def written(self, request: ModelRequest) -> bytes:
        return self._writer.write(request, self._key(request))

    def decoder(self, allowed: AnswerLimits) -> ChunkDecoder:
        return ChunkDecoder(self._dialect, allowed, self.sdk)

    def account(self) -> tuple[str, dict[str, Any]]:
        # Local servers take any key; a key keeps the SDK from looking for others.
        key = self.endpoint.api_key or "none"
        if not self._address:
            text = (
                f"the provider {self.endpoint.name} needs the address of its API: set its baseUrl"
            )
            raise ModelFailed(text, kind="bad_request")
        if not self._azure:
            return "AsyncOpenAI", {"api_key": key, "base_url": self._address}
        whole = "/openai" in urlsplit(self._address).path
        address = {"base_url" if whole else "azure_endpoint": self._address}
        return (
            "AsyncAzureOpenAI",
            {"api_key": key, "api_version": self._dialect.api_version, **address},
        )

    @property
    def _address(self) -> str:
        return self.endpoint.base_url or self._dialect.base_url

    @property
    def _azure(self) -> bool:
        """Whether an address is Azure's older API's; the newer is as OpenAI's."""
        return bool(self._dialect.api_version) and "/v1" not in urlsplit(self._address).path

    def _key(self, request: ModelRequest) -> str:
        return self._cache_key(request.prompt) if self._dialect.keyed else ""

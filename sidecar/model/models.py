"""The models of a daemon, by id."""

import asyncio
import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sidecar.config import OFFLINE_MODEL, Config
from sidecar.config.provider_settings import KINDS, USUAL, NamedProvider, provider_of
from sidecar.core.parts import Millis
from sidecar.core.prompt.pricing import ModelInfo
from sidecar.core.prompt.tokens import Count
from sidecar.model.catalogue import lookup, lookup_at
from sidecar.model.chat.chat_model import ChatModel
from sidecar.model.chat.dialects import DIALECTS
from sidecar.model.contract import Model
from sidecar.model.endpoint import Endpoint
from sidecar.model.gemini.gemini_model import GeminiModel
from sidecar.model.hosted import HostedModel
from sidecar.model.messages.anthropic_model import AnthropicModel
from sidecar.model.named import NamedModel
from sidecar.model.offline.offline_model import OfflineModel
from sidecar.model.responses.responses_model import ResponsesModel
from sidecar.model.retry import Patience
from sidecar.model.stalls import STALL
from sidecar.model.suggestions import every
from sidecar.model.vocabulary import VOCABULARY, load_counter


class Vocabulary:
    """Counts tokens for all windows of a daemon; takes 27 MiB.

    Counts are kept under `name`, without one not at all.
    """

    name = VOCABULARY

    def __init__(self) -> None:
        self._count: Count | None = None
        self._loading = asyncio.Lock()

    async def counter(self) -> Count:
        """Takes 0.2 s at the first call."""
        async with self._loading:
            if self._count is None:
                self._count = await asyncio.to_thread(load_counter)
            return self._count


class Models:
    """Makes models at first use; `shared`: for one of several windows.

    `name/model` is a named provider's, another id one of the usual provider.
    """

    def __init__(
        self,
        now: Callable[[], Millis],
        random: Callable[[], float],
        pace: float = 0.0,
        stall: float = STALL,
        vocabulary: Vocabulary | None = None,
        *,
        shared: bool = False,
    ) -> None:
        self._shared = shared
        self._now = now
        self._random = random
        self._pace = pace
        self._stall = stall
        self._config = Config()
        self._offline: Model | None = None
        self._hosted: dict[str, NamedModel] = {}
        self._count: Count | None = None
        self._vocabulary = vocabulary or Vocabulary()

    @property
    def vocabulary(self) -> str:
        return self._vocabulary.name

    def configure(self, config: Config) -> None:
        self._config = config

    def model_for(self, model_id: str) -> Model:
        if model_id == OFFLINE_MODEL:
            if self._offline is None:
                self._offline = OfflineModel(self._count or len, self._pace)
            return self._offline
        return self._hosted_for(model_id)

    @property
    def known(self) -> dict[str, str]:
        return dict(every(self._config))

    def info(self, model_id: str) -> ModelInfo:
        named = provider_of(model_id, self._config.providers)
        name, kind = (named.name, named.kind) if named else (USUAL, self._config.provider.name)
        own = model_id.removeprefix(f"{name}/")
        if kind not in KINDS or own == OFFLINE_MODEL:
            return replace(lookup(own), id=model_id)
        # As the SDK reads, which demands one.
        region = os.environ.get("CLOUD_ML_REGION", "global")
        return replace(lookup_at(own, kind, self._config.window, region), id=model_id)

    async def counter(self) -> Count:
        self._count = await self._vocabulary.counter()
        return self._count

    async def aclose(self) -> None:
        for one in self._hosted.values():
            await one.model.aclose()

    async def warm_up(self) -> None:
        if self._config.model != OFFLINE_MODEL:
            await self._hosted_for(self._config.model).model.warm_up()

    def _hosted_for(self, model_id: str) -> NamedModel:
        named = provider_of(model_id, self._config.providers)
        name = USUAL if named is None else named.name
        key = "" if named is None else name
        if key not in self._hosted:
            self._hosted[key] = NamedModel(name, self._made(named))
        return self._hosted[key]

    def _made(self, named: NamedProvider | None) -> HostedModel:
        usual = self._config.provider
        if named is None:
            endpoint = Endpoint(usual.name, usual.base_url, usual.api_key, self._shared)
        else:
            endpoint = Endpoint(named.kind, named.base_url, named.api_key, self._shared)
        given: Any = {
            "now": self._now,
            "random": self._random,
            "patience": Patience.of(self._config.retry),
            "stall": self._stall,
        }
        match endpoint.name:
            case "gemini":
                return GeminiModel(endpoint, **given)
            case "openai":
                return ResponsesModel(endpoint, **given)
            case name if name in DIALECTS:
                return ChatModel(endpoint, DIALECTS[name], **given)
            case _:
                return AnthropicModel(endpoint, **given)

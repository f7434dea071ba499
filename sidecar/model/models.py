"""The models of a daemon, by id."""

import asyncio
from collections.abc import Callable

from sidecar.config import OFFLINE_MODEL, Config
from sidecar.core.parts import Millis
from sidecar.core.prompt.tokens import Count
from sidecar.model.contract import Model
from sidecar.model.endpoint import Endpoint
from sidecar.model.messages.anthropic_model import AnthropicModel
from sidecar.model.offline import OfflineModel
from sidecar.model.retry import Patience
from sidecar.model.stalls import STALL
from sidecar.model.vocabulary import load_counter


class Vocabulary:
    """Counts tokens for all windows of a daemon; takes 27 MiB."""

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
    """Makes models at first use; `shared`: for one of several windows."""

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
        self._hosted: AnthropicModel | None = None
        self._count: Count | None = None
        self._vocabulary = vocabulary or Vocabulary()

    def configure(self, config: Config) -> None:
        self._config = config

    def model_for(self, model_id: str) -> Model:
        if model_id == OFFLINE_MODEL:
            if self._offline is None:
                self._offline = OfflineModel(self._count or len, self._pace)
            return self._offline
        if self._hosted is None:
            provider, retry = self._config.provider, self._config.retry
            self._hosted = AnthropicModel(
                Endpoint(provider.name, provider.base_url, provider.api_key, self._shared),
                now=self._now,
                random=self._random,
                patience=Patience.of(retry),
                stall=self._stall,
            )
        return self._hosted

    async def counter(self) -> Count:
        self._count = await self._vocabulary.counter()
        return self._count

    async def aclose(self) -> None:
        if self._hosted is not None:
            await self._hosted.aclose()

    async def warm_up(self) -> None:
        """Imports the SDK in a thread, if a hosted model is configured."""
        if self._config.model != OFFLINE_MODEL:
            model = self.model_for(self._config.model)
            if isinstance(model, AnthropicModel):
                await model.warm_up()

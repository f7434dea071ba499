"""What the provider's cache holds of a session: predicted before each request, checked after it."""

from sidecar.core.parts import Millis, Usage
from sidecar.core.prompt import Prompt, Ttl
from sidecar.core.render import Block
from sidecar.core.tokens import Count, count_block, count_tool
from sidecar.core.warm import TTL_MS, Asked, Chain, Entry, Prediction, explain, link, predict


class CacheWatch:
    """Follows one session's requests. Sizes are raw estimates, scaled to tokens when told."""

    def __init__(self, count: Count) -> None:
        self._count = count
        self._warm: dict[object, Entry] = {}
        self._last: Asked | None = None
        self._chain = Chain()
        self.last_break: tuple[str, str] | None = None

    def predict(self, model: str, prompt: Prompt, at: Millis, minimum: int) -> Prediction:
        """Say what a request with this prompt reads and writes; raw estimates."""
        chain = link(model, prompt, self._weigh, self._chain)
        prediction, _ = predict(
            self._warm, chain.hashes, chain.sizes, chain.places, _marks(prompt), at, minimum
        )
        return prediction

    def sent(
        self, model: str, prompt: Prompt, at: Millis, minimum: int, usage: Usage
    ) -> tuple[int, tuple[str, str] | None]:
        """Take in a finished request and what it reported.

        Gives the tokens that were expected from the cache, and why fewer came, if they did.
        What is reported wins: when the provider had less than predicted, what was thought to be
        warm is forgotten.
        """
        chain = link(model, prompt, self._weigh, self._chain)
        prediction, after = predict(
            self._warm, chain.hashes, chain.sizes, chain.places, _marks(prompt), at, minimum
        )
        now = Asked(chain, at, prediction)
        scale = usage.prompt / chain.sizes[-1] if chain.sizes and chain.sizes[-1] else 1.0
        miss = explain(self._last, now, round(usage.cache_read / scale), minimum)
        self._chain, self._last = chain, now
        written = usage.cache_write_5m + usage.cache_write_1h
        self._warm = dict(after) if usage.cache_read or written else {}
        if miss is not None:
            self.last_break = miss
        return round(prediction.read * scale), miss

    def resume(self, model: str, prompt: Prompt, blocks: int, started: Millis, ttl: Ttl) -> None:
        """Begin again after a restart: the last request had this many message blocks."""
        chain = link(model, prompt, self._weigh, Chain())
        static = len(prompt.system)
        self._chain = chain
        for index, life in ((static, TTL_MS[ttl]), (static + blocks, TTL_MS["5m"])):
            if 0 <= index < len(chain.hashes):
                size = chain.sizes[index]
                self._warm[chain.hashes[index]] = Entry(size, started + life, life)

    def _weigh(self, content: object) -> int:
        if isinstance(content, Block):
            return count_block(content, self._count)
        if isinstance(content, tuple):
            return sum(count_tool(tool, self._count) for tool in content)
        return 0


def _marks(prompt: Prompt) -> list[tuple[int, Ttl]]:
    """Give the breakpoints as indices of segments: tools, then system blocks, then messages'."""
    starts = []
    at = 1 + len(prompt.system)
    for message in prompt.messages:
        starts.append(at)
        at += len(message.blocks)
    return [
        (1 + mark.block if mark.message is None else starts[mark.message] + mark.block, mark.ttl)
        for mark in prompt.breakpoints
    ]

"""Predicts a session's cache at the provider, then checks."""

from collections.abc import Sequence
from typing import TypeVar

from msgspec import structs

from sidecar.core.parts import Millis, Usage
from sidecar.core.prompt.cache.misses import AnsweredRequest, Miss, find_miss
from sidecar.core.prompt.cache.warmth import (
    Prediction,
    Warm,
    assume,
    follow,
    foresee,
)
from sidecar.core.prompt.cache_rules import CacheRules
from sidecar.core.prompt.prefix import Chain, PrefixPiece, link
from sidecar.core.prompt.prompt import ModelRequest
from sidecar.core.prompt.render import Block
from sidecar.core.prompt.tokens import Count, count_block, count_tool
from sidecar.store.format.log_records import PingRecord, StepRecord

_R = TypeVar("_R", StepRecord, PingRecord)


def with_cache(record: _R, foreseen: Prediction, miss: Miss | None, usage: Usage) -> _R:
    told = structs.replace(record, predicted_read=foreseen.read, read=usage.cache_read)
    if miss is None:
        return told
    return structs.replace(told, miss=miss.cause, segment=miss.segment, reason=miss.reason)


class CacheWatch:
    """Follows a session's requests; `factor` is tokens per raw estimate."""

    def __init__(self, count: Count) -> None:
        self._count = count
        self.forget()

    def forget(self) -> None:
        self._warm: Warm = {}
        self._last: AnsweredRequest | None = None
        self._chain = Chain()
        self.last_break: tuple[str, str] | None = None

    def foresee(
        self, request: ModelRequest, at: Millis, rules: CacheRules, factor: float, bias: int = 0
    ) -> Prediction:
        """Predicts cache reads and writes of a request started `at`; the cache stays.

        `bias` adds tokens to those before the history.
        """
        chain = self._link(request)
        more = round(bias / factor)

        def seen(sizes: Sequence[int]) -> Prediction:
            marks, places = chain.marks, chain.places
            return foresee(self._warm, chain.hashes, sizes, places, marks, at, rules, scale=factor)

        found = seen(chain.sizes)
        # Sizes of what is read were reported.
        if found.hit is not None or not more:
            return found
        return seen([size + more for size in chain.sizes])

    def sent(
        self, request: ModelRequest, at: Millis, rules: CacheRules, factor: float, usage: Usage
    ) -> tuple[Prediction, Miss | None]:
        """Follows a finished request; reported usage wins.

        A miss: the cache served fewer tokens than predicted.
        """
        prediction = self.foresee(request, at, rules, factor)
        now = AnsweredRequest(self._chain, at, prediction, usage)
        miss = find_miss(self._last, now, usage.cache_read)
        self._warm = follow(self._warm, prediction, usage=usage)
        self._last = now
        if miss is not None:
            self.last_break = (miss.segment, miss.reason)
        return prediction, miss

    def resume(
        self, request: ModelRequest, started: Millis, rules: CacheRules, usage: Usage
    ) -> None:
        """After a restart, assumes an earlier request's prefixes cached, sized by `usage`."""
        chain = self._link(request)
        self._warm = assume(chain.hashes, chain.sizes, chain.marks, started, usage, rules)

    def _link(self, request: ModelRequest) -> Chain:
        # Kept of requests that are only foreseen too: a meter is told several times a second, and
        # what a tool has returned is hashed and counted for the first of them alone.
        self._chain = link(request.model, request.prompt, self._weigh, self._chain, request.effort)
        return self._chain

    def _weigh(self, content: PrefixPiece) -> int:
        if isinstance(content, Block):
            known = content.tokens
            return count_block(content, self._count) if known is None else known
        return sum(count_tool(tool, self._count) for tool in content)

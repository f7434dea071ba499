"""The provider's prompt cache, by its documented rules.

Entries are written only at breakpoints. A read walks back from each breakpoint over at most 20
positions, the breakpoint's own included, looking for an entry; runs of tool calls or of tool
results are one position. Prompts below the minimum are not cached. An entry lives for its TTL from
the start of the request that wrote or last read it.
Source: Anthropic, "Prompt caching", read 2026-11.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.validation import Body, in_order, plain

LOOKBACK = 20
TTL = {"5m": 300, "1h": 3600}


@dataclass
class CacheSimulator:
    """One workspace's cache. `count` gives tokens of a block's text, `now` seconds."""

    now: Callable[[], float]
    minimum: int = 512
    count: Callable[[str], int] = lambda text: max(1, len(text) // 4)
    lookback: int = LOOKBACK
    _entries: dict[str, tuple[float, float]] = field(default_factory=dict)

    def request(self, body: Body, blocks: list[Body] | None = None) -> dict[str, Any]:
        """Give the usage of a request that starts now, and remember what it wrote."""
        blocks = in_order(body) if blocks is None else blocks
        hashes, sizes, places = self.prefixes(body, blocks)
        marks = [
            (i, b["cache_control"].get("ttl", "5m"))
            for i, b in enumerate(blocks)
            if "cache_control" in b
        ]
        total = sizes[-1] if sizes else 0
        hit = self._longest_hit(hashes, places, [index for index, _ in marks])
        if hit >= 0:
            life = self._entries[hashes[hit]][1]
            self._entries[hashes[hit]] = (self.now() + life, life)
        read = sizes[hit] if hit >= 0 else 0
        written = {"5m": 0, "1h": 0}
        reached = read
        for index, ttl in marks:
            if index < hit:
                self._keep(hashes[index])
            if sizes[index] < self.minimum or index <= hit:
                continue
            self._entries[hashes[index]] = (self.now() + TTL[ttl], TTL[ttl])
            written[ttl] += sizes[index] - reached
            reached = sizes[index]
        return {
            "input_tokens": total - reached,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": sum(written.values()),
            "cache_creation": {
                "ephemeral_5m_input_tokens": written["5m"],
                "ephemeral_1h_input_tokens": written["1h"],
            },
        }

    def _keep(self, key: str) -> None:
        """Renew an entry that is marked on the way to what is read.

        The provider does so in recorded sessions: some that wrote for five minutes only, and read
        their newest prefix for twenty, found their static part again after a rewrite.
        """
        until, life = self._entries.get(key, (-1.0, 0.0))
        if until >= self.now():
            self._entries[key] = (self.now() + life, life)

    def prefixes(self, body: Body, blocks: list[Body]) -> tuple[list[str], list[int], list[int]]:
        hashes, sizes, places = [], [], []
        running, size, place, before = body["model"], 0, -1, ""
        for block in blocks:
            text = plain(block)
            running = hashlib.sha256((running + text).encode("utf-8", "replace")).hexdigest()
            size += self.count(text)
            kind = block.get("type", "tool")
            if kind != before or kind not in ("tool_use", "tool_result"):
                place += 1
            before = kind
            hashes.append(running)
            sizes.append(size)
            places.append(place)
        return hashes, sizes, places

    def _longest_hit(self, hashes: list[str], places: list[int], marks: list[int]) -> int:
        for mark in reversed(marks):
            index = mark
            while index >= 0 and places[mark] - places[index] < self.lookback:
                entry = self._entries.get(hashes[index])
                if entry is not None and entry[0] >= self.now():
                    return index
                index -= 1
        return -1

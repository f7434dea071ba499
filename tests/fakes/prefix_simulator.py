"""A prompt cache without breakpoints: whatever a prompt begins with as an earlier one did is read.

In steps of `step` tokens, from `minimum` on, until `life` seconds have passed unused.
Source: OpenAI, "Prompt caching", on models before GPT-5.6, read 2026-11.
"""

from dataclasses import dataclass, field
from typing import Any

from tests.fakes.cache_simulator import CacheSimulator
from tests.fakes.validation import Body, in_order


@dataclass
class PrefixSimulator(CacheSimulator):
    """Reports no writes, as they are free."""

    step: int = 128
    life: float = 600
    _prompts: list[tuple[float, list[str]]] = field(default_factory=list)

    def request(self, body: Body, blocks: list[Body] | None = None) -> dict[str, Any]:
        hashes, sizes, _ = self.prefixes(body, in_order(body) if blocks is None else blocks)
        common = 0
        for number, (used, before) in enumerate(self._prompts):
            same = sum(1 for old, new in zip(before, hashes, strict=False) if old == new)
            if same and self.now() - used <= self.life:
                common = max(common, sizes[same - 1])
                self._prompts[number] = (self.now(), before)
        self._prompts.append((self.now(), hashes))
        read = common - common % self.step if common >= self.minimum else 0
        return {
            "input_tokens": sizes[-1] - read,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": 0,
            "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
        }

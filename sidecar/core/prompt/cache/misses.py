"""Says why the provider's cache served less of a request than the last one left there."""

from bisect import bisect_right
from collections.abc import Sequence
from operator import eq
from typing import Literal, TypeAlias

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Millis, Usage
from sidecar.core.prompt.cache.warmth import Prediction, is_shortened
from sidecar.core.prompt.prefix import Chain, kind, label, rendered
from sidecar.core.prompt.render import Block, MediaBlock, ResultBlock

BreakCause: TypeAlias = Literal[
    "model", "tools", "settings", "expired", "changed", "below_minimum", "lookback",
    "images", "unknown",
]  # fmt: skip
UNDERWAY = 10_000
"""Milliseconds that a request may take from its start until it reaches the provider."""
LEAST = 100
"""Reported tokens below which a difference is not worth a word."""
SLACK = 2
"""Steps of an automatic prefix by which a read may lag: seen in recorded sessions."""
EVERYTHING = "everything"


@dataclass(frozen=True, slots=True)
class AnsweredRequest:
    """A request, its prediction and its reported usage."""

    chain: Chain
    started: Millis
    prediction: Prediction
    usage: Usage


@dataclass(frozen=True, slots=True)
class Miss:
    """The first segment not served from the cache, the cause, and the tokens lost.

    `offset`: first differing byte of `rendered`, after the segment's kind.
    """

    cause: BreakCause
    segment: str
    reason: str
    lost: int
    offset: int | None = None


def find_miss(last: AnsweredRequest | None, now: AnsweredRequest, read: int) -> Miss | None:
    """Says why `read` tokens fall short of the last request's cache, or returns `None`.

    Only reported counts are compared: estimates could feign a miss. A prompt below the minimum is a
    miss of the next request. Where nothing is promised, only what we have changed is one.
    """
    if last is None:
        return None
    rules = last.prediction.rules
    left = rules.left(last.usage)
    lost = left - read
    if lost <= max(LEAST, SLACK * rules.granularity):
        asked, least = last.usage.prompt, rules.minimum
        reason = f"below the minimum: {asked} tokens, and this model caches none below {least}"
        is_short = not left and not read and asked < least
        return Miss("below_minimum", EVERYTHING, reason, asked) if is_short else None
    if last.chain.model != now.chain.model:
        reason = f"the model changed from {last.chain.model} to {now.chain.model}"
        return Miss("model", EVERYTHING, reason, lost)
    same = _leading(last.chain.hashes, now.chain.hashes)
    if same < min(last.chain.static, now.chain.static):
        return _changed(last.chain, now.chain, same, lost)
    until, end = last.prediction.expires_at, last.prediction.end
    if until is not None and is_shortened(last.prediction, last.usage):
        until = min(until, last.started + rules.short)
    if until is not None and now.started > until:
        ago, lived = (now.started - last.started) / 60_000, (until - last.started) // 60_000
        kept = "kept" if rules.ends_when_told else "usually kept"
        reason = f"expired: {kept} for {lived} min, and the last request began {ago:.1f} min before"
        return Miss("expired", _unserved(now, read), reason, lost)
    if last.chain.settings != now.chain.settings:
        reason = f"settings changed from {last.chain.settings!r} to {now.chain.settings!r}"
        return Miss("settings", "messages", reason, lost)
    if end is not None and same <= end:
        return _changed(last.chain, now.chain, same, lost)
    if until is not None and now.started > until - UNDERWAY:
        reason = "expired: what was kept ended while the request was under way"
        return Miss("expired", _unserved(now, read), reason, lost)
    return None if rules.life == "unknown" else _elsewhere(last, now, read, lost)


def _changed(before: Chain, now: Chain, index: int, lost: int) -> Miss:
    if index >= len(now.contents):
        return Miss("changed", label(before, index), "changed: it is no longer sent", lost)
    cause: BreakCause = "tools" if index == 0 else "changed"
    old, new = rendered(before.contents[index]), rendered(now.contents[index])
    offset = _leading(old, new)
    if index and kind(before.contents[index]) == kind(now.contents[index]):
        offset -= len(kind(now.contents[index])) + 1
    reason = f"changed at byte {offset}"
    if old == new:
        reason = "changed: it stands in another role"
    elif index == 0:
        old_tools, new_tools = before.prompt.tools, now.prompt.tools
        common = _leading(old_tools, new_tools)
        tool = (*new_tools[common:], *old_tools[common:])[0]
        reason = f"the tools changed from {tool.name} on, at byte {offset}"
    return Miss(cause, label(now, index), reason, lost, offset)


def _elsewhere(last: AnsweredRequest, now: AnsweredRequest, read: int, lost: int) -> Miss:
    places, end, rules = now.chain.places, last.prediction.end, last.prediction.rules
    if end is not None and rules.by == "marks" and rules.lookback is not None:
        ahead = [places[m] - places[end] for m, _ in now.chain.marks if m >= end]
        if not ahead or min(ahead) >= rules.lookback:
            far = f"{min(ahead)} positions before" if ahead else "after"
            reason = f"the last write is {far} the next breakpoint; lookback is {rules.lookback}"
            return Miss("lookback", label(now.chain, end), reason, lost)
    if _shows_media(last.chain) != _shows_media(now.chain):
        reason = "the first image came or the last one went, which costs the messages' cache"
        return Miss("images", "messages", reason, lost)
    return Miss("unknown", _unserved(now, read), "the provider no longer had it", lost)


def _leading(old: Sequence[object], new: Sequence[object]) -> int:
    alike = list(map(eq, old, new))
    return alike.index(False) if False in alike else len(alike)


def _unserved(now: AnsweredRequest, read: int) -> str:
    sizes, expected = now.chain.sizes, now.prediction
    if read <= LEAST or not sizes:
        return EVERYTHING
    if expected.hit is not None and abs(expected.read - read) <= LEAST:
        return label(now.chain, expected.hit + 1)
    return label(now.chain, bisect_right(sizes, read * sizes[-1] / now.usage.prompt))


def _shows_media(chain: Chain) -> bool:
    contents = (c.content for c in chain.contents if isinstance(c, Block))
    return any(
        isinstance(c, MediaBlock) or (isinstance(c, ResultBlock) and bool(c.media))
        for c in contents
    )

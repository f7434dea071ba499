"""Models the provider's cache: content, reads and writes, causes of misses.

Reads look back as in `breakpoints`, which names the source. An entry is readable once its first
response begins. It lives five minutes or an hour from the start of the last request that wrote it,
read it, or marked its end within a longer prefix (seen in recorded sessions after 20 minutes).
"""

from bisect import bisect_right
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import eq
from typing import Literal, TypeAlias

from sidecar.core.parts import Millis, Usage
from sidecar.core.prompt.breakpoints import LOOKBACK
from sidecar.core.prompt.prefix import CacheMark, Chain, kind, label, rendered
from sidecar.core.prompt.prompt import Ttl
from sidecar.core.prompt.render import Block, MediaBlock, ResultBlock

TTL_MS: Mapping[Ttl, Millis] = {"5m": 300_000, "1h": 3_600_000}
MOST_KEPT = 256
"""Entries that are remembered; beyond it those that expire first are forgotten."""
BELIEVED = 0.5
"""A reported read below this share of the predicted one, or the other way round, was of another
entry than the one predicted."""


@dataclass(frozen=True, slots=True)
class CachedPrefix:
    """A cached prefix of `size` tokens; a read until `expires` renews it for `ttl`."""

    size: int
    expires: Millis
    ttl: Millis


Warm: TypeAlias = Mapping[Hashable, CachedPrefix]
"""Cached prefixes by the chained hash of what they hold."""


@dataclass(frozen=True, slots=True)
class TouchedPrefix:
    """An entry that a request writes or renews; `marked` if at a breakpoint, else by a read."""

    hash: Hashable
    entry: CachedPrefix
    marked: bool


@dataclass(frozen=True, slots=True)
class Prediction:
    """Tokens billed for a request that starts `at`.

    `hit` is the last segment read, `end` the last segment cached afterwards, until `expires_at`;
    `None` if there is none.
    """

    read: int
    write_5m: int
    write_1h: int
    uncached: int
    hit: int | None
    end: int | None
    expires_at: Millis | None
    at: Millis
    touched: tuple[TouchedPrefix, ...]

    @property
    def cached(self) -> int:
        return self.read + self.write_1h + self.write_5m


def foresee(
    warm: Warm,
    hashes: Sequence[Hashable],
    sizes: Sequence[int],
    places: Sequence[int],
    marks: Sequence[CacheMark],
    at: Millis,
    minimum: int,
    *,
    scale: float = 1.0,
) -> Prediction:
    """Predicts reads and writes of a request starting `at`.

    `hashes` (chained), `sizes` (cumulative tokens) and `places` have an item per segment. `scale`
    corrects raw sizes.
    """
    hit = _longest(warm, hashes, places, marks, at)
    read = raw = 0
    touched: list[TouchedPrefix] = []
    if hit is not None:
        entry = warm[hashes[hit]]
        read, raw = entry.size, sizes[hit]
        touched.append(TouchedPrefix(hashes[hit], _renewed(entry, at), marked=False))
    end, expires_at = hit, None if hit is None else at + entry.ttl
    reached = read
    written: dict[Ttl, int] = {"5m": 0, "1h": 0}
    for index, ttl in marks:
        life = TTL_MS[ttl]
        if hit is None or index > hit:
            size = read + round((sizes[index] - raw) * scale)
            if size < minimum:
                continue
            touched.append(
                TouchedPrefix(hashes[index], CachedPrefix(size, at + life, life), marked=True)
            )
            written[ttl] += size - reached
            reached, end, expires_at = size, index, at + life
            continue
        # A mark inside the part read is not billed, so no new entry is assumed there.
        known = warm.get(hashes[index])
        if known is not None and known.expires >= at:
            touched.append(TouchedPrefix(hashes[index], _renewed(known, at), marked=True))
    total = read + round((sizes[-1] - raw) * scale) if sizes else 0
    left = total - reached
    return Prediction(
        read, written["5m"], written["1h"], left, hit, end, expires_at, at, tuple(touched)
    )


def follow(warm: Warm, prediction: Prediction, *, usage: Usage | None = None) -> Warm:
    """Returns the cache once the response begins, without expired entries.

    The reported `usage` corrects entries, and removes those that were not cached.
    """
    at = prediction.at
    after = {key: entry for key, entry in warm.items() if entry.expires >= at}
    touched = prediction.touched
    if usage is not None:
        if not _believed(prediction, usage):
            if usage.cache_read < prediction.read:
                for one in touched:
                    after.pop(one.hash, None)
            touched = tuple(one for one in touched if one.marked)
        touched = tuple(_as_reported(touched, prediction, usage))
    for one in touched:
        after[one.hash] = one.entry
    if len(after) <= MOST_KEPT:
        return after
    return dict(sorted(after.items(), key=lambda item: item[1].expires)[-MOST_KEPT:])


def predict(
    warm: Warm,
    hashes: Sequence[Hashable],
    sizes: Sequence[int],
    places: Sequence[int],
    marks: Sequence[CacheMark],
    at: Millis,
    minimum: int,
) -> tuple[Prediction, Warm]:
    prediction = foresee(warm, hashes, sizes, places, marks, at, minimum)
    return prediction, follow(warm, prediction)


def _longest(
    warm: Warm,
    hashes: Sequence[Hashable],
    places: Sequence[int],
    marks: Sequence[CacheMark],
    at: Millis,
) -> int | None:
    for mark, _ in reversed(marks):
        index = mark
        floor = places[mark] - LOOKBACK
        while index >= 0 and places[index] > floor:
            entry = warm.get(hashes[index])
            if entry is not None and at <= entry.expires:
                return index
            index -= 1
    return None


def _renewed(entry: CachedPrefix, at: Millis) -> CachedPrefix:
    return replace(entry, expires=max(entry.expires, at + entry.ttl))


def _believed(prediction: Prediction, usage: Usage) -> bool:
    read, predicted = usage.cache_read, prediction.read
    return read >= predicted * BELIEVED and (not predicted or predicted >= read * BELIEVED)


def _shortened(prediction: Prediction, usage: Usage) -> bool:
    return prediction.write_1h > 0 and not usage.cache_write_1h and usage.cache_write_5m > 0


def _as_reported(
    touched: Sequence[TouchedPrefix], prediction: Prediction, usage: Usage
) -> Iterator[TouchedPrefix]:
    hour = usage.cache_read + usage.cache_write_1h
    cached = hour + usage.cache_write_5m
    if not cached:
        return
    knots = [(0, 0)]
    if prediction.read and _believed(prediction, usage):
        knots.append((prediction.read, usage.cache_read))
    if prediction.write_1h and usage.cache_write_1h:
        knots.append((prediction.read + prediction.write_1h, hour))
    knots.append((prediction.cached, cached))
    shortened = _shortened(prediction, usage)
    for one in touched:
        entry = replace(one.entry, size=_between(knots, one.entry.size))
        if shortened and one.entry.size > prediction.read:
            entry = replace(entry, expires=prediction.at + TTL_MS["5m"], ttl=TTL_MS["5m"])
        yield replace(one, entry=entry)


def _between(knots: Sequence[tuple[int, int]], tokens: int) -> int:
    for (x0, y0), (x1, y1) in pairwise(knots):
        if x0 < x1 and tokens <= x1:
            return y0 + round((tokens - x0) * (y1 - y0) / (x1 - x0))
    return knots[-1][1]


BreakCause: TypeAlias = Literal[
    "model", "tools", "settings", "expired", "changed", "below_minimum", "lookback",
    "images", "unknown",
]  # fmt: skip
UNDERWAY = 10_000
"""Milliseconds that a request may take from its start until it reaches the provider."""
LEAST = 100
"""Reported tokens below which a difference is not worth a word."""
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


def find_miss(
    last: AnsweredRequest | None, now: AnsweredRequest, read: int, minimum: int
) -> Miss | None:
    """Says why `read` tokens fall short of the last request's cache, or returns `None`.

    Only reported counts are compared: estimates could feign a miss. A prompt below `minimum` is a
    miss of the next request.
    """
    if last is None:
        return None
    left = last.usage.prompt - last.usage.input
    lost = left - read
    if lost <= LEAST:
        return None if left else _too_short(last.usage, read, minimum)
    if last.chain.model != now.chain.model:
        reason = f"the model changed from {last.chain.model} to {now.chain.model}"
        return Miss("model", EVERYTHING, reason, lost)
    same = _leading(last.chain.hashes, now.chain.hashes)
    if same < min(last.chain.static, now.chain.static):
        return _changed(last.chain, now.chain, same, lost)
    until, end = last.prediction.expires_at, last.prediction.end
    if until is not None and _shortened(last.prediction, last.usage):
        until = min(until, last.started + TTL_MS["5m"])
    if until is not None and now.started > until:
        ago, lived = (now.started - last.started) / 60_000, (until - last.started) // 60_000
        reason = f"expired: kept for {lived} min, and the last request began {ago:.1f} min before"
        return Miss("expired", _unserved(now, read), reason, lost)
    if last.chain.settings != now.chain.settings:
        reason = f"settings changed from {last.chain.settings!r} to {now.chain.settings!r}"
        return Miss("settings", "messages", reason, lost)
    if end is not None and same <= end:
        return _changed(last.chain, now.chain, same, lost)
    if until is not None and now.started > until - UNDERWAY:
        reason = "expired: what was kept ended while the request was under way"
        return Miss("expired", _unserved(now, read), reason, lost)
    return _elsewhere(last, now, read, lost)


def _too_short(told: Usage, read: int, minimum: int) -> Miss | None:
    if read or told.prompt >= minimum:
        return None
    reason = f"below the minimum: {told.prompt} tokens, and this model caches none below {minimum}"
    return Miss("below_minimum", EVERYTHING, reason, told.prompt)


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
    places, end = now.chain.places, last.prediction.end
    if end is not None:
        ahead = [places[m] - places[end] for m, _ in now.chain.marks if m >= end]
        if not ahead or min(ahead) >= LOOKBACK:
            far = f"{min(ahead)} positions before" if ahead else "after"
            reason = f"the last write is {far} the next breakpoint; lookback is {LOOKBACK}"
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

"""Models the provider's cache: content, reads and writes.

Breakpoints and look-back are as in `breakpoints`; an automatic prefix is compared segment by
segment. An entry is readable once its first response begins, and lives by its rules from the start
of the last request that wrote it, read it, or marked its end within a longer prefix (seen in
recorded sessions after 20 minutes).
"""

from bisect import bisect_left
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import pairwise
from typing import TypeAlias

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Millis, Usage
from sidecar.core.prompt.cache_rules import MARKED, CacheRules
from sidecar.core.prompt.prefix import CacheMark
from sidecar.core.prompt.prompt import Ttl

MOST_KEPT = 256
"""Entries that are remembered; beyond it those that expire first are forgotten."""
MOST_PREFIXES = 4
"""Whole prompts that are remembered where any common prefix is read."""
BELIEVED = 0.5
"""A reported read below this share of the predicted one, or the other way round, was of another
entry than the one predicted."""


@dataclass(frozen=True, slots=True)
class CachedPrefix:
    """A cached prefix of `size` tokens; a read until `expires` renews it for `ttl`.

    Where any common prefix is read, `hashes` and `sizes` are those of the whole prompt.
    """

    size: int
    expires: Millis
    ttl: Millis
    hashes: Sequence[Hashable] = field(default=(), repr=False)
    sizes: Sequence[int] = field(default=(), repr=False)


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
    """Tokens billed for a request that starts `at`, by `rules`.

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
    rules: CacheRules = MARKED

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
    rules: CacheRules,
    *,
    scale: float = 1.0,
) -> Prediction:
    """Predicts reads and writes of a request starting `at`.

    `hashes` (chained), `sizes` (cumulative tokens) and `places` have an item per segment. `scale`
    corrects raw sizes.
    """
    if rules.by != "marks":
        return _foresee_prefix(warm, hashes, sizes, at, rules, scale)
    last = len(hashes) - 1
    if rules.marks <= rules.implicit:
        # None but the provider's own counts, whatever a replay would mark.
        marks = ()
    if rules.implicit and hashes and (not marks or marks[-1][0] < last):
        marks = (*marks, (last, "5m"))
    hit = _longest(warm, hashes, places, marks, at, rules.lookback)
    read = raw = 0
    touched: list[TouchedPrefix] = []
    end, expires_at = hit, None
    if hit is not None:
        entry = warm[hashes[hit]]
        read, raw = entry.size, sizes[hit]
        touched.append(TouchedPrefix(hashes[hit], _renewed(entry, at, rules), marked=False))
        expires_at = entry.expires if rules.life == "fixed" else at + entry.ttl
    reached = read
    written: dict[Ttl, int] = {"5m": 0, "1h": 0}
    for index, ttl in marks:
        life = rules.lives(ttl)
        if hit is None or index > hit:
            size = read + round((sizes[index] - raw) * scale)
            if size < rules.minimum:
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
            renewed = _renewed(known, at, rules)
            touched.append(TouchedPrefix(hashes[index], renewed, marked=True))
    total = read + round((sizes[-1] - raw) * scale) if sizes else 0
    left = total - reached
    return Prediction(
        read, written["5m"], written["1h"], left, hit, end, expires_at, at, tuple(touched), rules
    )


def _foresee_prefix(
    warm: Warm,
    hashes: Sequence[Hashable],
    sizes: Sequence[int],
    at: Millis,
    rules: CacheRules,
    scale: float,
) -> Prediction:
    if rules.by == "nothing" or not hashes:
        total = round(sizes[-1] * scale) if sizes else 0
        return Prediction(0, 0, 0, total, None, None, None, at, (), rules)
    # A replay goes on with the same lists.
    hashes, sizes, same, common = hashes[:], sizes[:], 0, 0
    source: CachedPrefix | None = None
    for entry in warm.values():
        alike = _shared(entry.hashes, hashes) if entry.expires >= at else 0
        if alike > same:
            knots = [(0, 0), (entry.sizes[-1], entry.size)]
            same, common, source = alike, _between(knots, entry.sizes[alike - 1]), entry
    read = rules.whole(common)
    total = common + round((sizes[-1] - (sizes[same - 1] if same else 0)) * scale)
    expires, touched = at + rules.short, []
    if source is not None and read:
        expires = source.expires if rules.life == "fixed" else expires
        renewed = _renewed(source, at, rules)
        touched.append(TouchedPrefix(source.hashes[-1], renewed, marked=False))
    hit = same - 1 if read else None
    if not rules.whole(total):
        return Prediction(read, 0, 0, total - read, hit, None, None, at, tuple(touched), rules)
    new = CachedPrefix(total, expires, rules.short, hashes, sizes)
    touched.append(TouchedPrefix(hashes[-1], new, marked=True))
    end = len(hashes) - 1
    return Prediction(read, 0, 0, total - read, hit, end, expires, at, tuple(touched), rules)


def _shared(old: Sequence[Hashable], new: Sequence[Hashable]) -> int:
    """Returns how many segments both begin with; chained hashes differ from there on."""
    return bisect_left(range(min(len(old), len(new))), True, key=lambda i: old[i] != new[i])


def follow(warm: Warm, prediction: Prediction, *, usage: Usage | None = None) -> Warm:
    """Returns the cache once the response begins, without expired entries.

    The reported `usage` corrects entries, and removes those not cached.
    """
    at, by_prefix = prediction.at, prediction.rules.by == "prefix"
    after = {key: entry for key, entry in warm.items() if entry.expires >= at}
    touched = prediction.touched
    if usage is not None:
        if not _believed(prediction, usage):
            if usage.cache_read < prediction.read:
                for one in touched:
                    after.pop(one.hash, None)
            touched = tuple(one for one in touched if one.marked)
        if not by_prefix:
            touched = tuple(_as_reported(touched, prediction, usage))
        elif usage.prompt:
            touched = tuple(
                replace(one, entry=replace(one.entry, size=usage.prompt)) if one.marked else one
                for one in touched
            )
    for one in touched:
        after[one.hash] = one.entry
    if by_prefix:
        return _longest_prompts(after)
    if len(after) <= MOST_KEPT:
        return after
    return dict(sorted(after.items(), key=lambda item: item[1].expires)[-MOST_KEPT:])


def _longest_prompts(warm: dict[Hashable, CachedPrefix]) -> Warm:
    """Leaves out beginnings of later prompts, as these read and renew them."""
    kept: dict[Hashable, CachedPrefix] = {}
    for key, entry in reversed(warm.items()):
        own = len(entry.hashes)
        longer = (one for one in kept.values() if one.expires >= entry.expires)
        if any(one.hashes[own - 1 : own] == entry.hashes[-1:] for one in longer):
            continue
        kept[key] = entry
        if len(kept) == MOST_PREFIXES:
            break
    return dict(reversed(kept.items()))


def assume(
    hashes: Sequence[Hashable],
    sizes: Sequence[int],
    marks: Sequence[CacheMark],
    started: Millis,
    usage: Usage,
    rules: CacheRules,
) -> Warm:
    """Returns the cache after a request of which only the `usage` is known."""
    cached = rules.left(usage)
    if not hashes or not cached:
        return {}
    if rules.by == "prefix":
        until = started + rules.short
        return {hashes[-1]: CachedPrefix(usage.prompt, until, rules.short, hashes, sizes)}
    if rules.implicit:
        marks = (*marks, (len(hashes) - 1, "5m"))
    warm: dict[Hashable, CachedPrefix] = {}
    for index, ttl in marks:
        size = round(sizes[index] * cached / max(1, sizes[marks[-1][0]]))
        life = rules.lives(ttl)
        warm[hashes[index]] = CachedPrefix(size, started + life, life)
    return warm


def predict(
    warm: Warm,
    hashes: Sequence[Hashable],
    sizes: Sequence[int],
    places: Sequence[int],
    marks: Sequence[CacheMark],
    at: Millis,
    rules: CacheRules,
) -> tuple[Prediction, Warm]:
    prediction = foresee(warm, hashes, sizes, places, marks, at, rules)
    return prediction, follow(warm, prediction)


def _longest(
    warm: Warm,
    hashes: Sequence[Hashable],
    places: Sequence[int],
    marks: Sequence[CacheMark],
    at: Millis,
    lookback: int | None,
) -> int | None:
    for mark, _ in reversed(marks):
        index = mark
        floor = -1 if lookback is None else places[mark] - lookback
        while index >= 0 and places[index] > floor:
            entry = warm.get(hashes[index])
            if entry is not None and at <= entry.expires:
                return index
            index -= 1
    return None


def _renewed(entry: CachedPrefix, at: Millis, rules: CacheRules) -> CachedPrefix:
    if rules.life == "fixed":
        return entry
    return replace(entry, expires=max(entry.expires, at + entry.ttl))


def _believed(prediction: Prediction, usage: Usage) -> bool:
    read, predicted = usage.cache_read, prediction.read
    return read >= predicted * BELIEVED and (not predicted or predicted >= read * BELIEVED)


def is_shortened(prediction: Prediction, usage: Usage) -> bool:
    """Whether a longer lifetime was billed as the usual one."""
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
    shortened, short = is_shortened(prediction, usage), prediction.rules.short
    for one in touched:
        entry = replace(one.entry, size=_between(knots, one.entry.size))
        if shortened and one.entry.size > prediction.read:
            entry = replace(entry, expires=prediction.at + short, ttl=short)
        yield replace(one, entry=entry)


def _between(knots: Sequence[tuple[int, int]], tokens: int) -> int:
    for (x0, y0), (x1, y1) in pairwise(knots):
        if x0 < x1 and tokens <= x1:
            return y0 + round((tokens - x0) * (y1 - y0) / (x1 - x0))
    return knots[-1][1]

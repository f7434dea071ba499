"""What the provider's cache holds, and so what a request will read and write.

Entries are written only at breakpoints. A read walks back from each breakpoint over at most 20
positions, the breakpoint's own included, to an entry that is still alive. An entry lives five
minutes or an hour from the start of the request that wrote or last read it.
Source: Anthropic, "Prompt caching", read 2026-11.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from sidecar.core.cache import LOOKBACK
from sidecar.core.digest import digest
from sidecar.core.parts import Json, Millis
from sidecar.core.prompt import Prompt, ToolSpec, Ttl
from sidecar.core.render import (
    Block,
    CallBlock,
    MediaBlock,
    OpaqueBlock,
    ReasoningBlock,
    ResultBlock,
    TextBlock,
)

TTL_MS: Mapping[Ttl, Millis] = {"5m": 300_000, "1h": 3_600_000}
TOLERANCE = 0.02
LEAST_MISS = 500
"""Tokens below which a difference says more about estimates than about the cache."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A cached prefix: its size in tokens, until when it lives, and for how long a use renews."""

    size: int
    expires: Millis
    ttl: Millis


Warm = Mapping[Hashable, Entry]
"""Cached prefixes by the chained hash of what they hold."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """How a prompt is billed, in tokens; `hit` is the index of the segment read up to, or -1."""

    read: int
    write_5m: int
    write_1h: int
    uncached: int
    hit: int
    expires: Millis


def predict(
    warm: Warm,
    hashes: Sequence[Hashable],
    sizes: Sequence[int],
    places: Sequence[int],
    marks: Sequence[tuple[int, Ttl]],
    at: Millis,
    minimum: int,
) -> tuple[Prediction, Warm]:
    """Say what a request that starts `at` reads and writes, and what is cached afterwards.

    The sequences are parallel: chained hash, cumulative tokens and position of each segment.
    `marks` are (segment, ttl) in prompt order.
    """
    hit = _longest(warm, hashes, places, marks, at)
    after = {key: entry for key, entry in warm.items() if entry.expires >= at}
    read = sizes[hit] if hit >= 0 else 0
    if hit >= 0:
        life = warm[hashes[hit]].ttl
        after[hashes[hit]] = Entry(read, at + life, life)
    written = {"5m": 0, "1h": 0}
    reached = read
    expires = at + TTL_MS["5m"] if hit >= 0 else 0
    for index, ttl in marks:
        if sizes[index] < minimum:
            continue
        life = TTL_MS[ttl]
        known = after.get(hashes[index])
        kept = max(life, known.ttl) if known is not None and index <= hit else life
        after[hashes[index]] = Entry(sizes[index], at + kept, kept)
        expires = at + kept
        if index > hit:
            written[ttl] += sizes[index] - reached
            reached = sizes[index]
    total = sizes[-1] if sizes else 0
    prediction = Prediction(read, written["5m"], written["1h"], total - reached, hit, expires)
    return prediction, after


def _longest(
    warm: Warm,
    hashes: Sequence[Hashable],
    places: Sequence[int],
    marks: Sequence[tuple[int, Ttl]],
    at: Millis,
) -> int:
    for mark, _ in reversed(marks):
        index = mark
        floor = places[mark] - LOOKBACK
        while index >= 0 and places[index] > floor:
            entry = warm.get(hashes[index])
            if entry is not None and entry.expires >= at:
                return index
            index -= 1
    return -1


@dataclass(frozen=True, slots=True)
class Chain:
    """A prompt as hashed segments: tools, system blocks, message blocks. All are parallel.

    `contents` are the objects the segments were made of, by whose identity a chain is extended.
    """

    model: str = ""
    hashes: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()
    places: tuple[int, ...] = ()
    labels: tuple[str, ...] = ()
    contents: tuple[object, ...] = field(default=(), repr=False)


def link(model: str, prompt: Prompt, weigh: Callable[[object], int], before: Chain) -> Chain:
    """Make the chain of a prompt; what is the same objects as in `before` is not hashed again.

    `weigh` gives the tokens of one segment: of all tools (a tuple), or of a block.
    """
    contents: list[object] = [prompt.tools, *prompt.system]
    labels = ["tools", *(f"system {i}" for i in range(len(prompt.system)))]
    for number, message in enumerate(prompt.messages):
        contents.extend(message.blocks)
        labels.extend(
            f"message {number}, block {i} ({_kind(block)})"
            for i, block in enumerate(message.blocks)
        )
    same = 0
    if before.model == model:
        for old, new in zip(before.contents, contents, strict=False):
            if old is not new:
                break
            same += 1
    hashes, sizes = list(before.hashes[:same]), list(before.sizes[:same])
    places = list(before.places[:same])
    running = hashes[-1] if hashes else digest(model.encode())
    for content in contents[same:]:
        running = digest(rendered(content), running)
        previous = contents[len(hashes) - 1] if hashes else None
        hashes.append(running)
        sizes.append((sizes[-1] if sizes else 0) + weigh(content))
        joined = _joins(previous, content)
        places.append((places[-1] if places else -1) + (0 if joined else 1))
    return Chain(model, tuple(hashes), tuple(sizes), tuple(places), tuple(labels), tuple(contents))


def _joins(previous: object, now: object) -> bool:
    """Whether two segments share a position: neighbours in a run of calls or of results."""
    if not isinstance(previous, Block) or not isinstance(now, Block):
        return False
    kinds = type(previous.content), type(now.content)
    return kinds in ((CallBlock, CallBlock), (ResultBlock, ResultBlock))


def _kind(block: Block) -> str:
    return type(block.content).__name__.removesuffix("Block").lower()


def rendered(content: object) -> bytes:
    """Give the bytes that stand for a segment: all that the provider would see of it."""
    match content:
        case Block(content=TextBlock(text=text)):
            return b"text:" + text.encode("utf-8", "surrogatepass")
        case Block(content=MediaBlock(media=media)):
            return f"media:{media.media_type}:{media.data}".encode()
        case Block(content=ReasoningBlock(text=text, metadata=metadata)):
            return f"thinking:{text}:{canonical(metadata)}".encode("utf-8", "surrogatepass")
        case Block(content=CallBlock(call_id=call_id, name=name, input=given)):
            said = f"call:{call_id}:{name}:{canonical(given)}"
            return said.encode("utf-8", "surrogatepass")
        case Block(content=ResultBlock() as result):
            shown = ":".join(digest(m.data.encode()) for m in result.media)
            said = f"result:{result.call_id}:{result.is_error}:{shown}:{result.text}"
            return said.encode("utf-8", "surrogatepass")
        case Block(content=OpaqueBlock(block=body)):
            return f"opaque:{canonical(body)}".encode("utf-8", "surrogatepass")
        case tuple():
            tools = (t for t in content if isinstance(t, ToolSpec))
            said = "|".join(f"{t.name}:{t.description}:{canonical(t.input_schema)}" for t in tools)
            return said.encode("utf-8", "surrogatepass")
        case _:
            return repr(content).encode("utf-8", "surrogatepass")


def canonical(value: Json) -> str:
    """Write JSON in the order in which it stands, without a library: equal values, equal text."""
    match value:
        case dict():
            return "{" + ",".join(f"{k!r}:{canonical(v)}" for k, v in value.items()) + "}"
        case list():
            return "[" + ",".join(canonical(v) for v in value) + "]"
        case _:
            return repr(value)


@dataclass(frozen=True, slots=True)
class Asked:
    """What is remembered of a request, to explain the next one's reads: its chain and start."""

    chain: Chain
    started: Millis
    prediction: Prediction


def explain(
    last: Asked | None, now: Asked, reported_read: int, minimum: int
) -> tuple[str, str] | None:
    """Say why fewer tokens came from the cache than the last request left there.

    Gives (segment, reason), or `None` when the reads are as predicted within two per cent.
    """
    if last is None:
        return None
    if last.chain.model != now.chain.model:
        return "model", f"the model changed from {last.chain.model} to {now.chain.model}"
    same = _shared(last.chain, now.chain)
    if same < len(last.chain.hashes):
        segment = now.chain.labels[same] if same < len(now.chain.labels) else "the end"
        if reported_read + LEAST_MISS < last.chain.sizes[-1]:
            return segment, f"changed at byte {_first_difference(last.chain, now.chain, same)}"
    expected = now.prediction.read
    if reported_read >= expected * (1 - TOLERANCE) - LEAST_MISS:
        if expected or now.started - last.started <= TTL_MS["5m"]:
            return None
        minutes = (now.started - last.started) / 60_000
        return "everything", f"expired: {minutes:.1f} min since the last request began"
    if now.chain.sizes and now.chain.sizes[-1] < minimum:
        return "everything", f"below the model's minimum of {minimum} tokens"
    if now.prediction.hit < 0:
        return "everything", "the last breakpoint is more than 20 positions back"
    return now.chain.labels[now.prediction.hit], "unknown: the provider no longer had it"


def _shared(before: Chain, now: Chain) -> int:
    same = 0
    for old, new in zip(before.hashes, now.hashes, strict=False):
        if old != new:
            break
        same += 1
    return same


def _first_difference(before: Chain, now: Chain, index: int) -> int:
    if index >= len(now.contents):
        return 0
    old, new = rendered(before.contents[index]), rendered(now.contents[index])
    pairs = enumerate(zip(old, new, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(old), len(new)))

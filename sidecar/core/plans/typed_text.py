"""Shortens typed messages, and puts the last request in a note."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from sidecar.core.conversation.call_outcome import one_line
from sidecar.core.dataclass import dataclass
from sidecar.core.ledger.deeds import IN_BACKGROUND, Delegated, TodoProgress, list_after
from sidecar.core.ledger.units import Item, Unit
from sidecar.core.parts import PartId
from sidecar.core.plans.outcomes import short
from sidecar.core.prompt.visibility import Dropped, Placeholder, Quoted, Shown
from sidecar.core.text.rule_sentences import FIRM, SOFT, size_of
from sidecar.core.text.sentences import LONGEST, SHORT, Span, asks, sentences

LEAST = 200
"""Tokens that a message must have room for to be told with both of its ends."""
MARK = 24
"""Tokens that naming the id of a shortened message takes."""
GAP = 24
"""Bytes of a mark for lines left out."""
FIRST_WORDS = 120
"""Bytes of a message's beginning that say which one it is."""
BEGINNING = 2 * FIRST_WORDS
"""Characters in which they stand."""
RULES_SHARE = 0.6
"""Of what a long message may keep: the most that its rules take; its two ends have the rest."""
ONE = 4
"""One old message's rules may take a fourth of what is left for all of them."""

UNANSWERED = "Asked last when this was written (see below what came of it, and what is asked now):"
ANSWERED = "Asked last when this was written, and answered:"
REQUEST, MOST_ASKED = 200, 3
"""Characters of a request that are told of it, and requests without an answer, the newest."""
MOST_CHANGED = 4
"""Files that are named as changed for it."""
ENDS = (-60, -200)
"""Tokens of an old message's ends that stay, first of each, then of the newest; negative, to stand
beside degrees of rules. A shorter one stays whole."""


@dataclass(frozen=True, slots=True)
class TypedRoom:
    """Most tokens for the `first` typed message, `each` other, all `whole` and all `old` ones."""

    first: int
    each: int
    whole: int
    old: int


@dataclass(frozen=True, slots=True)
class Stay:
    """How a typed part is shown, its tokens, and why."""

    shown: Shown | None
    tokens: int
    reason: str


def request_lines(units: Sequence[Unit]) -> Iterator[str]:
    """Tells the last request, earlier unanswered ones, and deeds since."""
    places = [n for n, unit in enumerate(units) if _is_request(unit)]
    if not places:
        return
    since = units[places[-1] + 1 :]
    if _answers(since) and not _goes_on(since):
        yield f"{ANSWERED} {_request(units, places[-1])}"
        return
    first = len(places) - 1
    while first and not _answers(units[places[first - 1] + 1 : places[first]]):
        first -= 1
    asked = list(dict.fromkeys(f"- {_request(units, n)}" for n in places[first:]))
    calls = sum(unit.kind == "call" for unit in since)
    changed: dict[str, bool] = {}
    for deed in (deed for unit in since for deed in unit.changed):
        path = short(deed.path.replace("\\", "/"))
        # A file that came and went, as a probe does, is no change.
        if not changed.pop(path, False) or deed.operation != "deleted":
            changed[path] = True
    done = [f"{calls} call{'s' * (calls > 1)}"] if calls else []
    done += [f"changes of {', '.join(list(changed)[-MOST_CHANGED:])}"] if changed else []
    said = [f"Done for it by then: {', last '.join(done)}."] if done else []
    yield "\n".join((UNANSWERED, *asked[-MOST_ASKED:], *said))


def _request(units: Sequence[Unit], place: int) -> str:
    told = _in_short(units[place].text)
    if len(told) > SHORT:
        return told
    before = (unit for unit in reversed(units[:place]) if unit.kind in ("prose", "typed"))
    said = next(before, None)
    close = said.text[-2 * LONGEST :] if said and said.kind == "prose" else ""
    asked = [close[start:end] for start, end in sentences(close)]
    question = next(filter(asks, reversed(asked)), "")
    return f"{told} (to: {one_line(question, REQUEST // 2)})" if question else told


def _is_request(unit: Unit) -> bool:
    return unit.kind == "typed" and not unit.attached and bool(unit.text.strip())


def _answers(units: Sequence[Unit]) -> bool:
    """Whether the model wrote a text after its last call."""
    said = next((unit.kind for unit in reversed(units) if unit.kind in ("prose", "call")), "")
    return said == "prose"


def _goes_on(units: Sequence[Unit]) -> bool:
    """Whether a machine's message came last, or a subtask or to-do is open."""
    listed: Mapping[str, tuple[str, TodoProgress]] = {}
    for deed in (deed for unit in units for deed in unit.deeds):
        if isinstance(deed, Delegated) and (
            deed.result == IN_BACKGROUND or deed.status == "running"
        ):
            return True
        found = list_after(listed, deed)
        listed = listed if found is None else found
    said = next(unit.kind for unit in reversed(units) if unit.kind in ("prose", "context"))
    return said == "context" or any(how != "done" for _, how in listed.values())


def _in_short(text: str) -> str:
    line = one_line(text, len(text)).lstrip("-*• ")
    if len(line) <= REQUEST:
        return line
    close = line[-REQUEST // 2 :]
    start, _ = next(reversed(list(sentences(close))), (0, 0))
    return f"{one_line(line, REQUEST // 2)} ⋯ {close[start or close.find(' ') + 1 :]}"


def stays(items: Sequence[Item], first: Sequence[Item], room: TypedRoom) -> Mapping[PartId, Stay]:
    """Decides how typed parts are shown, in prompt order; parts of the `first` message never go."""
    told: dict[PartId, Stay] = {}
    for item in first:
        told[item.unit.part_id] = shorten_goal(item, room.first // len(first))
    whole = room.whole
    old: list[Item] = []
    for item in reversed(items):
        most = min(room.each, whole)
        if item.tokens_whole <= most:
            told[item.unit.part_id] = Stay(None, item.tokens_whole, "typed by the user")
            whole -= item.tokens_whole
        elif most >= LEAST and not is_media(item):
            told[item.unit.part_id] = cut_long(item, most)
            whole -= most
        else:
            old.append(item)
    return told | _old(old, room.old)


def cut_long(item: Item, most: int) -> Stay:
    """Cuts a message to its rules and both ends, in about `most` tokens."""
    text = item.unit.text
    bytes_ = size_of(text) * max(0, most - MARK) // item.tokens_whole
    rules = _rules(item.unit, round(RULES_SHARE * bytes_), SOFT)
    left = max(0, bytes_ - _size(text, rules))
    spans = joined((*rules, *_ends(text, left)), text)
    return Stay(Quoted(spans), most, "a long message: its rules and both ends")


def shorten_goal(item: Item, most: int) -> Stay:
    if item.tokens_whole <= max(most, 2 * MARK):
        return Stay(None, item.tokens_whole, "typed by the user")
    if is_media(item):
        return Stay(Placeholder(), MARK, "attached to the first message")
    return cut_long(item, max(most, 2 * MARK))


def _old(items: Sequence[Item], room: int) -> dict[PartId, Stay]:
    """Keeps firm rules of old messages, then first words, soft rules and ends, newest first."""
    kept: dict[PartId, tuple[Span, ...]] = {}
    said: set[str] = set()
    for sure in (FIRM, 0, SOFT, *ENDS):
        for item in items:
            part_id, text = item.unit.part_id, item.unit.text
            if is_media(item) or not text:
                continue
            before = kept.get(part_id, ())
            rate = size_of(text) / item.tokens_whole
            if sure < 0:
                found = _ends(text, round(-sure * rate))
            elif sure:
                most = round(max(room / ONE, 2 * MARK) * rate)
                found = _rules(item.unit, most, sure, said)
            else:
                found = (_opening(text),)
            after = joined((*before, *found), text)
            added = round((_size(text, after) - _size(text, before)) / rate)
            cost = added + (0 if before else MARK)
            if after == before or cost > room:
                continue
            room -= cost
            kept[part_id] = after
            said |= {text[slice(*span)] for span in found}
    return {item.unit.part_id: _shortened(item, kept.get(item.unit.part_id)) for item in items}


def _shortened(item: Item, spans: tuple[Span, ...] | None) -> Stay:
    if spans is None:
        return Stay(Dropped(), 0, "an old message, told by the note")
    text = item.unit.text
    tokens = MARK + round(_size(text, spans) * item.tokens_whole / size_of(text))
    if tokens >= item.tokens_whole:
        return Stay(None, item.tokens_whole, "typed by the user")
    return Stay(Quoted(spans), tokens, "an old message: its rules and first words")


def brief(unit: Unit, room: int) -> str:
    """Gives a message's first words and rules in about `room` bytes."""
    text = unit.text
    spans = joined((_opening(text), *_rules(unit, room - FIRST_WORDS, SOFT)), text)
    return " ⋯ ".join(text[slice(*span)] for span in spans)


def joined(spans: Iterable[Span], text: str) -> tuple[Span, ...]:
    """Sorts spans, and merges those with only space between."""
    whole: list[Span] = []
    for start, end in sorted(spans):
        if whole and (start <= whole[-1][1] or not text[whole[-1][1] : start].strip()):
            whole[-1] = (whole[-1][0], max(whole[-1][1], end))
        elif end > start:
            whole.append((start, end))
    return tuple(whole)


def is_media(item: Item) -> bool:
    """Images and documents have fewer bytes of text than tokens."""
    return size_of(item.unit.text) < item.tokens_whole


def _rules(unit: Unit, room: int, sure: int, said: Iterable[str] = frozenset()) -> tuple[Span, ...]:
    picked = []
    for rule in sorted(unit.rules, key=lambda rule: -rule.sure):
        sentence = unit.text[slice(*rule.span)]
        size = size_of(sentence) + GAP
        if rule.sure >= sure and size <= room and sentence not in said:
            room -= size
            picked.append(rule.span)
    return tuple(sorted(picked))


def _opening(text: str) -> Span:
    indent = len(text) - len(text.lstrip())
    start, end = next(sentences(text[indent : indent + BEGINNING]), (0, 0))
    return indent, indent + _fitting(text[indent : indent + end - start], FIRST_WORDS)


def _ends(text: str, room: int) -> tuple[Span, ...]:
    head = _fitting(text, room - room // 3)
    tail = len(text) - _fitting(text[::-1], room // 3)
    return ((0, head), (max(head, tail), len(text)))


def _fitting(text: str, room: int) -> int:
    """Counts characters that fit in `room` bytes, up to a near end of line or word."""
    room = max(0, room)
    head = text[:room].encode("utf-8", "surrogatepass")[:room]
    length = len(head.decode("utf-8", "ignore"))
    if length == len(text):
        return length
    ends = (text.rfind(end, length // 2, length) for end in ("\n", " "))
    return next((end for end in ends if end > 0), length)


def _size(text: str, spans: Iterable[Span]) -> int:
    return sum(size_of(text[slice(*span)]) + GAP for span in spans)

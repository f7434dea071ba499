"""What was left out, told in its place: notes between the messages that stay, in order of time."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Literal, TypeAlias

from sidecar.core.ledger.deeds import TouchedFile
from sidecar.core.ledger.units import RECORDED_SUMMARY, Unit, UnitKind
from sidecar.core.parts import MessageId, PartId
from sidecar.core.plans.guard import NOTES
from sidecar.core.plans.note import DIRECTIVE, Aftermath, directive, unlike_an_id
from sidecar.core.plans.outcomes import Outcome, told_changes
from sidecar.core.plans.plan import Passage
from sidecar.core.prompt.tokens import tokens_of
from sidecar.core.prompt.visibility import Dropped
from sidecar.core.text.sentences import (
    SHORT,
    announces,
    gist,
    is_heading,
    sentences,
    unfenced,
    without_announcement,
)

LINE = 160
"""Characters of a thought."""
ANSWER, LEAST_ANSWER = 900, 140
"""Characters of an answer: the newest's, and the least where there are many."""
REPLY, ASKED = 40, 800
"""Characters of a typed message that means nothing without what it replies to, and of that end."""
THOUGHT = 8
"""Tokens that a thought takes at least."""
SUMMARY_SHARE = 0.3
"""Of the story's tokens, the most that summaries held by a recording take."""
ANSWERS_SHARE = 0.6
"""Of the story's tokens, about what answers take together."""

_Weight: TypeAlias = float
_SURE: _Weight = 100.0
_LASTING: _Weight = 20.0
"""Of what changed something: files, and what the repository has."""
_TYPED: _Weight = 200.0
"""Of the user's own words: they have their room first."""
_WEIGHTS: Mapping[str, _Weight] = {
    "changed": 60.0, "history": 50.0, "check": 3.0, "thought": 2.0, "ran": 1.0,
}  # fmt: skip
SILENT: frozenset[UnitKind] = frozenset({"reasoning", "opaque"})
"""Kinds whose absence no passage tells."""
NEWEST = 0.9
"""An age (1 is now) from which on an answer is told at length."""
TWICE = 60
"""Characters from which on a line is told once."""
_GAP = "  ⋯"
_LABEL = re.compile(r"\s*(?:- )?(?:Answer: |Said last: )?")
MARK = 12
"""Tokens of the story for each passage: where there are more, empty ones join the next."""
_WORDY = re.compile(r"[-*•\s\"'(`¿¡\[]*\w")
_CLOSERS, _ASKS = "*_`\"')", ("?", "\uff1f", "\u061f")
_QUESTION = re.compile(r"[?\uff1f\u061f](?![^\s*_`\"')])")
_TextKind: TypeAlias = Literal["asks", "answer", "last", "thought", "none"]
"""`asks`: an answer that a few words reply to; `last`: calls followed it."""
_ANSWERS: Mapping[_TextKind, str] = {
    "asks": "Answer", "answer": "Answer", "last": "Said last",
}  # fmt: skip
_Told: TypeAlias = tuple[str, _Weight, TouchedFile | None]


@dataclass(slots=True)
class _Line:
    """A line of the story; `stretch` numbers its note. `deed`: a file, told with its neighbours."""

    stretch: int
    text: str
    weight: _Weight
    deed: TouchedFile | None = None


@dataclass(slots=True)
class _Stretch:
    """What is left out between two messages that stay, told before `before`.

    `typed`: the user typed that.
    """

    out: list[tuple[Unit, _TextKind]] = field(default_factory=list)
    calls: int = 0
    texts: int = 0
    before: MessageId | None = None
    typed: bool = False


def tell_story(after: Aftermath, room: int) -> tuple[Passage, ...]:
    """One passage before each message that stays, wherever something is left out before it.

    What the user typed and its answer are told in any case, the rest by weight and age in about
    `room` tokens, but lessons, which a note tells.
    """
    shown = [(unit, how) for unit, how in after.shown if unit.kind not in NOTES]
    if not shown:
        return ()
    units = [unit for unit, _ in shown]
    gone = [isinstance(how, Dropped) for _, how in shown]
    kinds = _text_kinds(units, gone)
    _pass_over(kinds, kinds.count("thought") - room // THOUGHT)
    answers = max(1, sum(map(kinds.count, _ANSWERS)))
    most = max(LEAST_ANSWER, round(ANSWERS_SHARE * room * 2.9 / answers))
    summary = round(SUMMARY_SHARE * room * 2.9)
    lessons = frozenset(unit.part_id for unit in after.learnt.values())
    last = units[-1].step + 1
    stretches = _stretches(units, gone, kinds)
    lines = [
        _Line(number, f"- {text}", weight, deed)
        for number, stretch in enumerate(stretches)
        for unit, kind in stretch.out
        if unit.part_id not in lessons or kind in _ANSWERS
        for age in (0.4 + 0.6 * (unit.step + 1) / last,)
        for text, weight, deed in (
            _came(after.upshot.outcomes[unit.part_id], age)
            if unit.kind == "call" and not unit.said
            else _said(unit, kind, age, most, summary)
        )
    ]
    return tuple(_written(stretches, lines, room))


def _stretches(
    units: Sequence[Unit], gone: Sequence[bool], kinds: Sequence[_TextKind]
) -> list[_Stretch]:
    stretches = [_Stretch()]
    here, message, stayed, typed = stretches[0], None, None, False
    for unit, goes, kind in zip(units, gone, kinds, strict=True):
        if unit.message_id != message:
            message, typed = unit.message_id, unit.kind == "typed"
        if not goes:
            if here.out and message not in (stayed, units[-1].message_id):
                # What goes before the message's first part that stays; the rest comes after.
                here = _next(stretches, message, typed=typed)
            stayed = message
        elif unit.kind == "call":
            here.calls += 1
            here.out.append((unit, kind))
        elif unit.kind not in SILENT and (unit.kind != "context" or _is_summary(unit)):
            here.texts += 1
            here.out.append((unit, kind))
    if here.out:
        _next(stretches, units[-1].message_id)
    return stretches


def _next(stretches: list[_Stretch], before: MessageId, *, typed: bool = False) -> _Stretch:
    stretches[-1].before, stretches[-1].typed = before, typed
    stretches.append(_Stretch())
    return stretches[-1]


def _is_summary(unit: Unit) -> bool:
    return unit.text.startswith(RECORDED_SUMMARY)


def _text_kinds(units: Sequence[Unit], gone: Sequence[bool]) -> list[_TextKind]:
    """Of each unit whether a text that goes is the last before the next typed message."""
    kinds: list[_TextKind] = ["none"] * len(units)
    answered = called = replied = False
    for n in reversed(range(len(units))):
        unit = units[n]
        match unit.kind:
            case "call":
                called = True
            case "prose" if called and announces(unit.text):
                # What it announces was called after it, and tells more.
                pass
            case "prose":
                if gone[n]:
                    answer: _TextKind = "last" if called else "asks" if replied else "answer"
                    kinds[n] = "thought" if answered else answer
                answered = True
            case "typed":
                answered = called = False
                replied = not unit.attached and len(unit.text.strip()) <= REPLY
            case _:
                pass
    return kinds


def _pass_over(kinds: list[_TextKind], thoughts: int) -> None:
    """Tell nothing of the oldest thoughts, for which there is no room in any case."""
    for n, kind in enumerate(kinds):
        if thoughts > 0 and kind == "thought":
            thoughts -= 1
            kinds[n] = "none"


def _said(unit: Unit, kind: _TextKind, age: float, most: int, summary: int) -> Iterator[_Told]:
    match unit.kind:
        case "typed":
            if text := directive(unit):
                yield f"{'The user' if unit.attached else 'The user:'} {text}", _TYPED, None
        case "context":
            yield _beginning(unit.text, summary, unit), _SURE, None
        case "prose" if kind in _ANSWERS and unit.text.strip():
            room = min(ANSWER if age > NEWEST else ANSWER // 2, most)
            yield f"{_ANSWERS[kind]}: {_answer(unit, kind, room)}", _SURE, None
        case "prose" if kind == "thought" and (text := gist(unit.text, LINE)) and len(text) > SHORT:
            yield text, _WEIGHTS["thought"] * age, None
        case "call":
            for said in unit.said:
                yield _beginning(said, DIRECTIVE, unit), _TYPED, None
        case _:
            pass


def _came(outcomes: Iterable[Outcome], age: float) -> Iterable[_Told]:
    return [(came.text, _WEIGHTS[came.kind] * age, came.deed) for came in outcomes]


def _beginning(text: str, most: int, unit: Unit) -> str:
    """A text's first lines, indented as an item of a list, and where the rest is."""
    text = text.strip()
    if len(text) > most:
        text = f"{_whole_words(text, most)} ⋯ recall {unit.part_id}"
    return "\n  ".join(unfenced(text))


def _answer(unit: Unit, kind: _TextKind, most: int) -> str:
    """An answer, or where it is longer both its ends."""
    text = unit.text.strip()
    text = without_announcement(text) if kind == "last" else text
    close = _asked(text) if kind == "asks" else ""
    if len(text) <= max(most, len(close)):
        return "\n  ".join(unfenced(text))
    if not close:
        return _ends(text, most, unit.part_id)
    head = _whole_words(next(unfenced(text[: -len(close)]), "…"), LEAST_ANSWER)
    return "\n  ".join((f"{head} ⋯ recall {unit.part_id}", "⋯", *unfenced(close)))


def _asked(text: str) -> str:
    """The last lines, where something is asked in them."""
    close = text[-ASKED:]
    if not _QUESTION.search(close):
        return ""
    line = close.find("\n", 0, ASKED // 2)
    return close[(line if line >= 0 or close == text else close.find(" ")) + 1 :]


def _ends(text: str, most: int, part_id: PartId) -> str:
    """Both ends of a longer text: in the last sentence stands what is asked."""
    close = "\n".join(unfenced(text[-most:]))
    start, end = next(reversed(list(sentences(close, len(close)))), (0, 0))
    last = close[start:end]
    asks = last.rstrip(_CLOSERS).endswith(_ASKS)
    if (
        not start
        or not _WORDY.match(last)
        or is_heading(last)
        or len(last) > (most if asks else most // 3)
    ):
        last = ""
    head = list(unfenced(_whole_words(text, max(most - len(last), most // 2)))) or ["…"]
    while len(head) > 1 and (
        not head[-1].strip(" -*") or head[-1].rstrip(_CLOSERS).endswith(":") or is_heading(head[-1])
    ):
        # A heading whose list is cut.
        head.pop()
    if len(head) == 1 and head[0].rstrip(_CLOSERS).endswith((":", "…")):
        # What it announces is cut.
        head = [gist(text, most - len(last)) or head[0]]
        last = "" if last in head[0] else last
    head[-1:] = [f"{line} ⋯ recall {part_id}" for line in head[-1:]]
    return "\n  ".join((*head, f"⋯ {last}") if last else head)


def _whole_words(text: str, most: int) -> str:
    """To the end of a line or sentence where one is near."""
    head, least = text[:most], most // 2
    end = max(head.rfind("\n"), head.rfind(". ") + 1)
    return head[: end if end > least else max(head.rfind(" "), least)].rstrip()


def _written(stretches: Sequence[_Stretch], lines: Sequence[_Line], room: int) -> Iterator[Passage]:
    kept = _kept(lines, room)
    spare = max(0, len(stretches) - 1 - room // MARK)
    for number, stretch in enumerate(stretches):
        if stretch.before is None:
            continue
        told = kept.get(number, [])
        bare = not told and not stretch.typed and number + 2 < len(stretches)
        if bare and (spare > 0 or not stretch.calls):
            spare -= 1
            stretches[number + 1].calls += stretch.calls
            stretches[number + 1].texts += stretch.texts
            continue
        head = f"⋯ {_sizes(stretch)} left out"
        text = "\n".join((f"[{head}:]", *told)) if told else f"[{head}]"
        yield Passage(stretch.before, unlike_an_id(text))


def _kept(lines: Sequence[_Line], room: int) -> dict[int, list[str]]:
    """The heaviest lines that fit, by stretch; each text but of files once, where it came last.

    What is sure may take half as much again, and so may what is lasting.
    """
    spare = {_SURE: room // 2, _LASTING: room // 2}
    newest = {line.text: n for n, line in enumerate(lines)}
    once = [n for n, line in enumerate(lines) if line.deed or newest[line.text] == n]
    taken: list[int] = []
    for n in sorted(once, key=lambda n: (-lines[n].weight, -n)):
        size = 5 if lines[n].deed else tokens_of(lines[n].text) - 6
        if size <= room:
            room -= size
        elif lines[n].weight >= _LASTING:
            kind = _SURE if lines[n].weight >= _SURE else _LASTING
            if size > spare[kind]:
                continue
            spare[kind] -= size
        else:
            continue
        taken.append(n)
    found: dict[int, list[str]] = {}
    seen: set[str] = set()
    ordered = (lines[n] for n in sorted(taken))
    for (stretch, changes), group in groupby(ordered, lambda line: (line.stretch, bool(line.deed))):
        told = found.setdefault(stretch, [])
        if not changes:
            told += filter(None, (_first_time(line.text, seen) for line in group))
        elif text := told_changes(line.deed for line in group if line.deed):
            told.append(f"- {text}")
    return found


def _first_time(text: str, seen: set[str]) -> str:
    """With a mark for long lines that stand before; empty where nothing else is left."""
    lines: list[str] = []
    for line in text.split("\n"):
        said = _LABEL.sub("", line, count=1)
        again = len(line) >= TWICE and said in seen
        seen.add(said)
        if not again or lines[-1:] != [_GAP]:
            lines.append(_GAP if again else line)
    if lines == [_GAP]:
        return ""
    return "\n".join(("- ⋯", *lines[1:]) if lines[0] == _GAP else lines)


def _sizes(stretch: _Stretch) -> str:
    calls, texts = stretch.calls, stretch.texts
    said = [f"{calls} call{'s' * (calls > 1)}"] if calls else []
    if texts:
        said.append(f"{texts} text{'s' * (texts > 1)}")
    return " and ".join(said)

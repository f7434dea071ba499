"""Writes notes between kept messages, telling the parts left out there."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import field
from itertools import groupby
from typing import Literal, TypeAlias

from sidecar.core.conversation.task_news import NEWS
from sidecar.core.dataclass import dataclass
from sidecar.core.ledger.deeds import TouchedFile
from sidecar.core.ledger.units import RECORDED_SUMMARY, Unit, UnitKind
from sidecar.core.parts import MessageId
from sidecar.core.plans.guard import NOTES
from sidecar.core.plans.note import DIRECTIVE, Aftermath, directive, unlike_an_id
from sidecar.core.plans.outcomes import Outcome, told_changes, tried
from sidecar.core.plans.plan import Passage
from sidecar.core.prompt.tokens import tokens_of
from sidecar.core.prompt.visibility import Dropped
from sidecar.core.text.abridge import (
    abridged,
    asked_last,
    first_words,
    fullest,
    in_brief,
    listed,
    numbers,
    references,
    with_rules,
    without_code,
)
from sidecar.core.text.sentences import SHORT, announces, gist, unfenced, without_announcement

LINE = 160
"""Characters of a thought."""
ANSWER, STATUS, LEAST_ANSWER = 900, 600, 140
"""Characters of an answer: the newest's, a status's, and the least where there are many."""
BRIEF, BRIEFEST = 140, 48
"""Characters of an answer for which there is no more room, and where these are very many."""
REPLY, ASKED = 40, 800
"""Characters of a typed message that means nothing without what it replies to, and of that end."""
THOUGHT = 8
"""Tokens that a thought takes at least."""
SUMMARY_SHARE, ANSWERS_SHARE = 0.3, 0.6
"""Of the story's tokens: the most that recorded summaries take, and about what answers take."""
LEAST_SUMMARY = 1_000
"""Characters that a recorded summary may take where that is more."""
LABEL = 30
"""Characters around a brief answer."""
LEAST_STORY = 1_500
"""Tokens that answers in brief may take where there is less room."""

_Weight: TypeAlias = float
_SURE: _Weight = 100.0
_LASTING: _Weight = 20.0
"""Of what changed something: files, and what the repository has."""
_TYPED, _REPLIED, _RECORDED = 200.0, 201.0, 202.0
"""Of the user's own words, which have their room first, of those that reply to a call, and of a
recorded summary, which is older than all that would take its room."""
_WEIGHTS: Mapping[str, _Weight] = {
    "changed": 60.0, "history": 50.0, "made": 30.0, "check": 3.0, "thought": 2.0, "ran": 1.0,
}  # fmt: skip
SILENT: frozenset[UnitKind] = frozenset({"reasoning", "opaque"})
"""Kinds whose absence no passage tells."""
ENDS = 2
"""A turn's newest answers, which a machine's message may follow; after news that is over."""
NEWEST = 0.9
"""An age (1 is now) from which on an answer is told at length."""
TWICE = 60
"""Characters from which on a line is told once."""
_GAP = "  ⋯"
_LABEL = re.compile(r"\s*(?:- )?(?:Answer: |Said last: )?")
MARK = 12
"""Tokens of the story for each passage: where there are more, empty ones join the next."""
_TextKind: TypeAlias = Literal["asks", "listed", "answer", "status", "last", "thought", "none"]
"""`asks`: a few words reply; `listed`: numbers do; `status`: the turn goes on; `last`: calls do."""
_ANSWERS: Mapping[_TextKind, str] = {
    "asks": "Answer", "listed": "Answer", "answer": "Answer", "status": "Answer",
    "last": "Said last",
}  # fmt: skip


@dataclass(slots=True)
class _Line:
    """A line of the story; `stretch`: its note's number.

    `deed`: a change of a file, told in one line with its neighbours. `brief`: an answer's shorter
    text.
    """

    stretch: int
    text: str
    weight: _Weight
    deed: TouchedFile | None = None
    brief: str = ""


@dataclass(frozen=True, slots=True)
class _Telling:
    """Most characters of an answer, of a brief one, and of a recorded summary."""

    answers: int
    briefs: int
    summary: int


@dataclass(slots=True)
class _Stretch:
    """Parts left out between two kept messages; `typed`: the user typed `before`, the second."""

    out: list[tuple[Unit, _TextKind]] = field(default_factory=list)
    calls: int = 0
    texts: int = 0
    before: MessageId | None = None
    typed: bool = False


def tell_story(after: Aftermath, room: int) -> tuple[Passage, ...]:
    """Gives a passage for each kept message with something left out before.

    Typed words and answers are always told, the rest by weight and age in about `room` tokens.
    """
    shown = [(unit, how) for unit, how in after.shown if unit.kind not in NOTES]
    if not shown:
        return ()
    units = [unit for unit, _ in shown]
    gone = [isinstance(how, Dropped) for _, how in shown]
    kinds = _text_kinds(units, gone)
    _pass_over(kinds, kinds.count("thought") - room // THOUGHT)
    answers = max(1, sum(map(kinds.count, _ANSWERS)))
    each = round(ANSWERS_SHARE * room * 2.9 / answers)
    least = round(LEAST_STORY * 2.9 / answers) - LABEL
    most, brief = max(LEAST_ANSWER, each), max(BRIEFEST, min(BRIEF, least))
    lessons = frozenset(unit.part_id for unit in after.learnt.values())
    last = units[-1].step + 1
    stretches = _stretches(units, gone, kinds)
    told = _Telling(
        answers=most, briefs=brief, summary=max(LEAST_SUMMARY, round(SUMMARY_SHARE * room * 2.9))
    )
    lines = [
        line
        for number, stretch in enumerate(stretches)
        for unit, kind in stretch.out
        if unit.part_id not in lessons or kind in _ANSWERS
        for age in (0.4 + 0.6 * (unit.step + 1) / last,)
        for line in (
            _came(number, after.upshot.outcomes[unit.part_id], age)
            if unit.kind == "call" and not unit.said
            else _said(number, unit, kind, age, told)
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
    kinds: list[_TextKind] = ["none"] * len(units)
    answered = called = replied = resumed = False
    running, meant, ends = True, frozenset[str](), 0
    said: list[int] = []
    for n in reversed(range(len(units))):
        unit = units[n]
        match unit.kind:
            case "call":
                called, resumed = True, False
            case "context" if not _is_summary(unit):
                resumed = running or not unit.text.startswith(NEWS)
            case "prose" if called and not resumed and announces(unit.text):
                # What it announces was called after it, and tells more.
                pass
            case "prose":
                over = resumed or not (called or answered)
                ends += over
                if gone[n] and resumed and running and ends <= ENDS:
                    kinds[n] = "status"
                elif gone[n] and answered:
                    kinds[n] = "answer" if over and ends <= ENDS else "thought"
                elif gone[n]:
                    kinds[n] = "last" if not over else "asks" if replied else "answer"
                if meant and meant <= numbers(unit.text):
                    if gone[n] and not meant <= numbers(asked_last(unit.text.strip(), ASKED)):
                        kinds[n] = "listed"
                    meant = frozenset()
                answered, resumed = True, False
                said += [n][: gone[n]]
            case "typed":
                _say_most(kinds, units, said)
                said = []
                running = answered = called = resumed = False
                ends = 0
                replied = not unit.attached and len(unit.text.strip()) <= REPLY
                meant = (not unit.attached and references(unit.text)) or meant
            case _:
                pass
    return kinds


def _say_most(kinds: list[_TextKind], units: Sequence[Unit], said: Sequence[int]) -> None:
    """Marks as the answer the text that says most, where a turn ends with calls.

    `said`: indexes of its texts, newest first.
    """
    if said and kinds[said[0]] == "last" and (most := fullest([units[n].text for n in said])):
        kinds[said[0]], kinds[said[most]] = "thought", "answer"


def _pass_over(kinds: list[_TextKind], thoughts: int) -> None:
    told = [n for n, kind in enumerate(kinds) if kind == "thought"]
    for n in told[: max(0, thoughts)]:
        kinds[n] = "none"


def _said(number: int, unit: Unit, kind: _TextKind, age: float, told: _Telling) -> Iterator[_Line]:
    match unit.kind:
        case "typed":
            if text := directive(unit):
                yield _Line(number, f"- The user{'' if unit.attached else ':'} {text}", _TYPED)
        case "context":
            text = with_rules(unit.text.removeprefix(RECORDED_SUMMARY), told.summary)
            text = f"{RECORDED_SUMMARY}{text} ⋯ recall {unit.part_id}"
            yield _Line(number, "- " + "\n  ".join(unfenced(text)), _RECORDED)
        case "prose" if kind in _ANSWERS and unit.text.strip():
            room = min(ANSWER if age > NEWEST else ANSWER // 2, told.answers)
            room = max(room, STATUS) if kind == "status" else room
            head = f"- {_ANSWERS[kind]}: "
            text = head + _answer(unit, kind, room)
            whole = kind in ("listed", "status") or len(text) <= told.briefs
            brief = text if whole else head + in_brief(unit.text, told.briefs)
            yield _Line(number, text, _SURE, brief=brief)
        case "prose" if kind == "thought" and (text := gist(unit.text, LINE)) and len(text) > SHORT:
            yield _Line(number, f"- {text}", _WEIGHTS["thought"] * age)
        case "call":
            for said in unit.said:
                yield _Line(number, f"- {_beginning(said, DIRECTIVE, unit)}", _REPLIED)
        case _:
            pass


def _came(number: int, outcomes: Iterable[Outcome], age: float) -> Iterable[_Line]:
    return [_Line(number, f"- {o.text}", _WEIGHTS[o.kind] * age, o.deed) for o in outcomes]


def _beginning(text: str, most: int, unit: Unit) -> str:
    text = text.strip()
    if len(text) > most:
        text = f"{first_words(text, most)} ⋯ recall {unit.part_id}"
    return "\n  ".join(unfenced(text))


def _answer(unit: Unit, kind: _TextKind, most: int) -> str:
    text = without_announcement(unit.text.strip())
    text += " ⋯" if text.endswith(":") else ""
    mark = f"⋯ recall {unit.part_id}"
    if kind == "listed" and len(text) > most:
        return "\n  ".join(listed(text, ASKED, mark))
    plain = "\n".join(without_code(text)) if kind == "asks" else ""
    close = asked_last(plain, ASKED)
    if not close or close == plain:
        return "\n  ".join(abridged(text, max(most, len(close)), mark))
    head = first_words(plain.partition("\n")[0], LEAST_ANSWER).removesuffix("…")
    return "\n  ".join((f"{head} {mark}", "⋯", *close.split("\n")))


def _written(stretches: Sequence[_Stretch], lines: Sequence[_Line], room: int) -> Iterator[Passage]:
    turns = {number for number, stretch in enumerate(stretches) if stretch.typed}
    kept = _kept(lines, room, turns)
    spare = max(0, len(stretches) - 1 - room // MARK)
    named: set[str] = set()
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
        head = f"⋯ {_sizes(stretch)}"
        out = [] if told else [unit for unit, _ in stretch.out]
        called = tried(out, stretch.calls, named, sure=stretch.typed) if out else ""
        text = "\n".join((f"[{head}:]" if told else f"[{head}{called and f': {called}'}]", *told))
        yield Passage(stretch.before, unlike_an_id(text))


def _kept(lines: Sequence[_Line], room: int, turns: Set[int]) -> dict[int, list[str]]:
    """Chooses the heaviest lines that fit, by stretch; each text once, at its last place.

    Answers and changes may exceed `room` by half. Each stretch in `turns`, which ends a turn, keeps
    its files or one line.
    """
    most = max(room + room // 2, LEAST_STORY)
    spare = {_RECORDED: most, _REPLIED: most, _SURE: room // 2, _LASTING: room // 2}
    newest = {line.text: n for n, line in enumerate(lines)}
    once = [
        n
        for n, line in enumerate(lines)
        if line.deed or newest[line.text] == n or (line.weight == _SURE and len(line.text) < TWICE)
    ]
    least = _least(lines, once, most)
    room -= sum(least.values())
    taken: dict[int, str] = {}
    for n in sorted(once, key=lambda n: (-lines[n].weight, -n)):
        text = lines[n].text
        size = 5 if lines[n].deed else tokens_of(text) - 6 - least.get(n, 0)
        if size <= room:
            room -= size
        elif lines[n].weight >= _LASTING:
            kind = next(kind for kind in spare if lines[n].weight >= kind)
            if size <= spare[kind]:
                spare[kind] -= size
            elif n in least:
                text = lines[n].brief
            else:
                continue
        else:
            continue
        taken[n] = text
    plain = [n for n in once if not lines[n].brief]
    mine = {stretch: [*some] for stretch, some in groupby(plain, lambda n: lines[n].stretch)}
    for stretch in (turns & mine.keys()) - {lines[n].stretch for n in taken}:
        deeds = [n for n in mine[stretch] if lines[n].deed]
        taken |= {n: lines[n].text for n in deeds or mine[stretch][-1:]}
    found, seen = dict[int, list[str]](), set[str]()
    ordered = ((lines[n], taken[n]) for n in sorted(taken))
    for (stretch, changes), group in groupby(
        ordered, lambda one: (one[0].stretch, bool(one[0].deed))
    ):
        told = found.setdefault(stretch, [])
        if not changes:
            told += filter(None, (_first_time(text, seen) for _, text in group))
        elif text := told_changes(line.deed for line, _ in group if line.deed):
            told.append(f"- {text}")
    return found


def _least(lines: Sequence[_Line], once: Sequence[int], room: int) -> dict[int, int]:
    least: dict[int, int] = {}
    for n in reversed(once):
        size = tokens_of(lines[n].brief) - 6 if lines[n].brief else 0
        if 0 < size <= room:
            room -= size
            least[n] = size
    return least


def _first_time(text: str, seen: set[str]) -> str:
    """Marks long lines told before; gives nothing if only marks are left."""
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
    sizes = (("call", stretch.calls), ("text", stretch.texts))
    return ", ".join(f"{count} {kind}{'s' * (count > 1)}" for kind, count in sizes if count)

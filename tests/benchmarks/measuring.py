"""What the requests of a played session say of its compactions: nothing here asks the policy.

Each request's blocks are compared with those of the one before it. The daemon's log says what was
done and typed, and its records of rewrites which texts are notes and which parts an id recalls.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sidecar.core.ledger.deeds import changed
from sidecar.core.ledger.units import Unit
from sidecar.core.prompt.visibility import Truncated
from sidecar.core.text.identifiers import names_in
from sidecar.replay.measures.measure import Glimpse, Memory, failure_kept
from tests.benchmarks.playing import Asked, Kind, Piece, Played

ID = re.compile(r"\b(?:part|cmp)_\w+")
LARGEST = 4


@dataclass(frozen=True, slots=True)
class Seen:
    """A rewrite as its first request shows it. Sizes in the fake's tokens.

    `share` is what the history takes of its room, `of_budget` what the prompt takes of all that
    may be sent, `must` what of that may not be touched: the static part, the first and the latest
    typed message, the last two steps. `gone` and `come` are what left the prompt and what stands
    there in its place. `unnamed` are the changed files that no note names, `largest` the largest
    blocks.
    """

    number: int
    cause: str
    share: float
    of_budget: float
    must: float
    gone: int
    come: int
    unnamed: tuple[str, ...]
    largest: tuple[tuple[Kind, int], ...]

    @property
    def compression(self) -> float:
        """How many times smaller what was compacted became."""
        return self.gone / max(1, self.come)


@dataclass
class Figures:
    """One session's figures; `most_calls` is how often a model was asked for one rewrite.

    `lost` are prompts without a typed message: (request, first or latest, its tokens).
    """

    name: str
    window: int
    requests: int
    seconds: float
    cost: float
    summaries: int
    most_calls: int
    refused: list[str]
    over: int
    far: int = 0
    view: int = 0
    ledger: int = 0
    reach: int = 0
    failures: int = 0
    forgotten: list[str] = field(default_factory=list)
    lost: list[tuple[int, str, int]] = field(default_factory=list)
    rewrites: list[Seen] = field(default_factory=list)
    runways: list[int] = field(default_factory=list)


def measure(played: Played) -> Figures:
    """Take all figures of one session.

    Raises:
        ValueError: what was sent and what was logged do not go together.
    """
    talk = played.conversation
    if len(talk.requests) != len(played.asked):
        raise ValueError(f"{played.name}: {len(played.asked)} requests, {len(talk.requests)} steps")
    told = Counter(number for number, _ in played.told)
    found = Figures(
        played.name,
        played.window,
        len(played.asked),
        played.seconds,
        sum(one.cost for one in played.asked) + sum(one.cost for _, one in played.told),
        len(played.told),
        max(told.values(), default=0),
        played.refused,
        sum(asked.prompt > played.limit for asked in played.asked),
    )
    reading = Reading(played)
    opened = iter(record.rewrite.cause for record in played.rewrites if record.opens)
    memory, arrived, last = Memory(), 0, 0
    for number, (asked, request) in enumerate(zip(played.asked, talk.requests, strict=True)):
        for unit in talk.units[arrived : request.end]:
            memory.add(unit)
        arrived = request.end
        memory.stand(reading.glimpse(asked), covered=False)
        memory.answer(request)
        found.lost += _untold(played, number)
        before = played.asked[number - 1].pieces if number else ()
        if before != asked.pieces[: len(before)]:
            units = talk.units[: request.end]
            found.rewrites.append(_rewritten(played, reading, number, next(opened), units))
            found.runways.append(number - last)
            last = number
    if (unseen := next(opened, None)) is not None:
        raise ValueError(f"{played.name}: a rewrite ({unseen}) that no request shows")
    found.far, found.view = memory.far, memory.view
    found.ledger, found.reach = memory.ledger, memory.reach
    _failures(found, reading, played, talk.units[:arrived])
    return found


def _untold(played: Played, number: int) -> Iterator[tuple[int, str, int]]:
    """Give the typed messages that a request lacks: the first of all, and the latest."""
    texts = [piece.text for piece in played.asked[number].pieces if piece.typed]
    for which, words in (("first", played.typed[0]), ("latest", played.typed[number])):
        if not any(words in text for text in texts):
            yield number, which, len(words) // 4


def _failures(found: Figures, reading: "Reading", played: Played, units: Sequence[Unit]) -> None:
    pieces = played.asked[-1].pieces if played.asked else ()
    results = {piece.call_id: piece.text for piece in pieces if piece.kind == "result"}
    notes = "\n".join(piece.text for piece in pieces if piece.text in reading.notes)
    for unit in units:
        if unit.kind == "call" and unit.failed:
            found.failures += 1
            shown = results.get(played.calls[unit.part_id])
            whole = shown is not None and unit.text.strip() in shown
            if not whole and not failure_kept(unit, shown, notes):
                found.forgotten.append(f"{unit.tool} {unit.argument}")


def _rewritten(
    played: Played, reading: "Reading", number: int, cause: str, units: Sequence[Unit]
) -> Seen:
    """Compare the first request after a rewrite with the last before it."""
    earlier = set(played.asked[max(0, number - 2)].pieces)
    before, asked = played.asked[number - 1], played.asked[number]
    then, now = set(before.pieces), set(asked.pieces)
    come = [piece for piece in now - then if reading.replaces(piece, before)]
    notes = " ".join(piece.text for piece in asked.pieces if piece.text in reading.notes)
    typed = played.typed[0], played.typed[number]
    must = [
        piece
        for piece in asked.pieces
        if (piece.typed and any(words in piece.text for words in typed))
        or (piece not in earlier and piece not in come and piece.text not in reading.notes)
    ]
    largest = sorted(asked.pieces, key=lambda piece: -piece.tokens)[:LARGEST]
    return Seen(
        number,
        cause,
        (asked.prompt - asked.static) / (played.limit - asked.static),
        asked.prompt / played.limit,
        (asked.static + sum(piece.tokens for piece in must)) / played.limit,
        sum(piece.tokens for piece in then - now),
        sum(piece.tokens for piece in come),
        tuple(path for path in _files(units) if path not in notes),
        tuple((piece.kind, piece.tokens) for piece in largest),
    )


def _files(units: Sequence[Unit]) -> list[str]:
    """Name the files that the agent changed; one that it made and deleted was never there."""
    there: dict[str, bool] = {}
    made: set[str] = set()
    for deed in (deed for unit in units for deed in changed(unit.deeds)):
        if deed.operation == "created" and deed.path not in there:
            made.add(deed.path)
        there[deed.path] = not (deed.operation == "deleted" and deed.path in made)
    return [path for path, is_there in there.items() if is_there]


class Reading:
    """Reads one session's requests as names; each block is read once.

    `notes` are the texts that rewrites put into the prompt.
    """

    def __init__(self, played: Played) -> None:
        rewrites = [record.rewrite for record in played.rewrites]
        notes = [note for rewrite in rewrites for note in rewrite.notes]
        self.notes = {note.text for note in notes}
        self._cut = {
            part_id
            for rewrite in rewrites
            for part_id, how in rewrite.shown.items()
            if isinstance(how, Truncated)
        }
        behind = {unit.part_id: _recallable(unit) for unit in played.conversation.units}
        self._behind: dict[str, frozenset[str]] = dict(behind)
        for rewrite in rewrites:
            parts = [behind.get(part_id) for part_id, how in rewrite.shown.items() if how]
            retired = set(rewrite.retired)
            earlier = [
                self._behind.get(other.id)
                for other in rewrites
                if retired & {note.id for note in other.notes}
            ]
            names = frozenset[str]().union(*(one for one in (*parts, *earlier) if one))
            self._behind[rewrite.id] = names
        self._names: dict[Piece, frozenset[str]] = {}
        self._reached: dict[Piece, frozenset[str]] = {}

    def glimpse(self, asked: Asked) -> Glimpse:
        """Take a request apart."""
        whole: set[str] = set()
        reach: set[str] = set()
        shown: list[str] = []
        notes: list[str] = []
        for piece in asked.pieces:
            reach |= self._recalled(piece)
            if piece.text in self.notes:
                notes.append(piece.text)
            else:
                shown.append(piece.text)
                whole |= self._named(piece)
        texts = "\0".join(shown), "\0".join(notes)
        return Glimpse(frozenset(whole), frozenset(), frozenset(reach), *texts)

    def replaces(self, piece: Piece, before: Asked) -> bool:
        """Whether a block that was not sent before stands for what is gone, and is not just new."""
        if piece.text in self.notes:
            return True
        if piece.call_id:
            return any(piece.call_id == other.call_id for other in before.pieces)
        return any(part_id in piece.text for part_id in self._cut)

    def _named(self, piece: Piece) -> frozenset[str]:
        names = self._names.get(piece)
        if names is None:
            names = self._names[piece] = names_in(piece.text)
        return names

    def _recalled(self, piece: Piece) -> frozenset[str]:
        """Give the names behind the ids that a block of ours tells the model to recall."""
        names = self._reached.get(piece)
        if names is None:
            ids = ID.findall(piece.text) if "recall" in piece.text else []
            behind = [self._behind.get(one, frozenset()) for one in ids]
            names = self._reached[piece] = frozenset[str]().union(*behind)
        return names


def _recallable(unit: Unit) -> frozenset[str]:
    """Give the names that one recall can bring: of a call its result, and what is listed of it."""
    if unit.kind == "call":
        return names_in(unit.text) | names_in(unit.argument)
    return frozenset(unit.names)

"""Measures how much needed text is in view, word for word: in one piece in one block.

Only an edit's missing text forces a re-read.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from sidecar.core.dataclass import dataclass
from sidecar.core.ledger.units import Item
from sidecar.core.parts import PartId
from sidecar.core.plans.guard import NOTES
from sidecar.core.plans.plan import Rates
from sidecar.core.prompt.visibility import Dropped
from sidecar.replay.measures.measure import shown_text
from sidecar.replay.measures.needs import NeededEdit, Needs, ShownAt, plain_text

SEARCH = 'with "pattern" it searches'
"""In a note: one `recall` searches all."""
ASKING = 100
"""Tokens of a call that reads a block again."""


@dataclass(slots=True)
class VerbatimTally:
    """Counts of needed texts, and of those in view; `around`: lines beside edits; cost in USD.

    Of `later` texts, needed after the first rewrite, `stood` were in view, and `came_back` came by
    one recall.
    """

    edits: int = 0
    edits_kept: int = 0
    far_edits: int = 0
    far_edits_kept: int = 0
    lines: int = 0
    lines_kept: int = 0
    around: int = 0
    around_kept: int = 0
    later: int = 0
    stood: int = 0
    came_back: int = 0
    rereads: int = 0
    reread_cost: float = 0.0

    def add(self, other: "VerbatimTally") -> None:
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


@dataclass(slots=True)
class VerbatimMeasure:
    """Measures one run; `sizes`: tokens of each part's block."""

    needs: Mapping[int, Needs]
    sizes: Mapping[PartId, int]
    rates: Rates
    tally: VerbatimTally = field(default_factory=VerbatimTally)
    _rewritten: bool = False
    _searched: bool = False
    _cut: frozenset[PartId] = frozenset()
    _gone: frozenset[PartId] = frozenset()
    _texts: tuple[str, ...] = ()
    _lines: frozenset[str] = frozenset()
    _read: set[PartId] = field(default_factory=set)

    def rewrite(self, items: Sequence[Item]) -> None:
        if not self.needs:
            return
        self._rewritten = True
        cut = [item for item in items if item.shown is not None]
        self._cut = frozenset(item.unit.part_id for item in cut)
        self._gone = frozenset(i.unit.part_id for i in cut if isinstance(i.shown, Dropped))
        notes = [i.unit.text for i in items if i.unit.kind in NOTES]
        self._searched = any(SEARCH in note for note in notes)
        self._texts = tuple(map(plain_text, (*map(shown_text, cut), *notes)))
        self._lines = frozenset(line.strip() for text in self._texts for line in text.split("\n"))
        self._read = set()

    def answer(self, step: int, prompt: int) -> None:
        found = self.needs.get(step)
        if found is None:
            return
        tally = self.tally
        for edit in found.edits:
            stands = self._whole(edit.shown) or any(edit.text in text for text in self._texts)
            tally.edits += 1
            tally.edits_kept += stands
            tally.far_edits += edit.far
            tally.far_edits_kept += edit.far and stands
            self._count_later(stands, edit.shown, edit.text)
            self._count_around(edit)
            if not stands:
                self._read_again(edit.shown[-1][0], prompt)
        for line in found.lines:
            tally.lines += 1
            stands = self._whole(line.shown) or line.line in self._lines
            tally.lines_kept += stands
            self._count_later(stands, line.shown, line.line)

    def _count_later(self, stands: bool, places: Iterable[ShownAt], text: str) -> None:
        if self._rewritten:
            # A search answers with the lines that match.
            found = self._searched and "\n" not in text
            self.tally.later += 1
            self.tally.stood += stands
            self.tally.came_back += not stands and (found or self._is_named(places))

    def _is_named(self, places: Iterable[ShownAt]) -> bool:
        # A part that is shown at all is shown with its id.
        return any(
            part_id not in self._gone or any(part_id in text for text in self._texts)
            for part_id, _ in places
        )

    def _whole(self, places: Iterable[ShownAt]) -> bool:
        return any(
            part_id not in (self._gone if of_call else self._cut) or part_id in self._read
            for part_id, of_call in places
        )

    def _count_around(self, edit: NeededEdit) -> None:
        self.tally.around += len(edit.around)
        whole = self._whole(edit.shown[-1:])
        self.tally.around_kept += sum(whole or line in self._lines for line in edit.around)

    def _read_again(self, part_id: PartId, prompt: int) -> None:
        rates = self.rates
        self._read.add(part_id)
        self.tally.rereads += 1
        read, wrote = prompt * rates.read, self.sizes.get(part_id, 0) * rates.write
        self.tally.reread_cost += read + wrote + ASKING * rates.output

"""Lays a prompt out as it grows: a request takes time by new content."""

from array import array
from collections.abc import Sequence
from itertools import accumulate, chain

from sidecar.core.conversation.growing import NEWEST, unchanged
from sidecar.core.parts import MessageId
from sidecar.core.prompt.prompt import Spread, append
from sidecar.core.prompt.render import Region, Rendered
from sidecar.session.view.message_view import RenderedMessage


class LaidPrompt:
    """The last layout, good until the next one.

    `messages` are joined, and spread as blocks. `sizes`: cumulative raw estimates of the static
    pieces, then of blocks; `raw`: of the history by region. `sent` counts messages without notes,
    `anchored` the blocks before the anchor message.
    """

    def __init__(self) -> None:
        self._about: tuple[Sequence[int], MessageId | None] | None = None
        self._seen: Sequence[RenderedMessage] = ()
        self._until = 0
        self.messages: list[Rendered] = []
        self.spread = Spread([], [])
        self.sizes = array("q")
        self.raw: dict[Region, int] = {}
        self.sent = self.anchored = 0

    def lay(
        self, seen: Sequence[RenderedMessage], pieces: Sequence[int], anchor: MessageId | None
    ) -> None:
        """Looks only at what changed, and at the newest messages."""
        if self._about != (pieces, anchor) or unchanged(self._seen, seen) < self._until:
            self._about, self.sizes = (pieces, anchor), array("q", accumulate(pieces))
            self._until, self._last = 0, list[Rendered]()
            self._ends, self._sums = (0, 0, len(pieces)), (dict[Region, int](), 0, 0)
        elif seen is self._seen:
            return
        messages, blocks, sizes = self._ends
        # The last message that is settled may have been joined with one that was not.
        self.messages[max(0, messages - 1) :] = self._last
        del self.spread.blocks[blocks:], self.spread.firsts[messages:], self.sizes[sizes:]
        raw, self.sent, self.anchored = self._sums
        self.raw = {**raw}
        until = max(self._until, len(seen) - NEWEST)
        self._add(seen[self._until : until], anchor)
        self._until, self._last = until, self.messages[-1:]
        self._ends = len(self.messages), len(self.spread.blocks), len(self.sizes)
        self._sums = {**self.raw}, self.sent, self.anchored
        self._add(seen[until:], anchor)
        self._seen = seen

    def _add(self, seen: Sequence[RenderedMessage], anchor: MessageId | None) -> None:
        blocks, firsts = self.spread.blocks, self.spread.firsts
        for one in seen:
            if one.message.id == anchor:
                self.anchored = len(blocks)
            self.sent += len(one.rendered) - len(one.notes) if one.rendered else 0
            for region, tokens in one.regions.items():
                self.raw[region] = self.raw.get(region, 0) + tokens
            for tokens in one.raw:
                self.sizes.append(self.sizes[-1] + tokens)
            for rendered in one.rendered:
                blocks.extend(rendered.blocks)
        append(self.messages, chain.from_iterable([one.rendered for one in seen]))
        for number in range(len(firsts), len(self.messages)):
            before = firsts[-1] + len(self.messages[number - 1].blocks) if firsts else 0
            firsts.append(before)

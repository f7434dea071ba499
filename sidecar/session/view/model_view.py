"""A session as the model sees it.

Messages are rendered and counted once: a step takes time by new content.
"""

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from math import ceil, floor

from sidecar.core.parts import Message, MessageId, Millis, StepFinishPart, TurnId
from sidecar.core.prompt import breakpoints
from sidecar.core.prompt import visibility as core_view
from sidecar.core.prompt.cache_rules import MARKED, CacheRules
from sidecar.core.prompt.meter import Size
from sidecar.core.prompt.prompt import Prompt, Static, Ttl
from sidecar.core.prompt.render import Region
from sidecar.core.prompt.tokens import (
    Calibration,
    Count,
    checked,
    count_block,
    count_tool,
    observe,
)
from sidecar.session.view.laid_prompt import LaidPrompt
from sidecar.session.view.message_view import Anchor, RenderedMessage, alike
from sidecar.session.view.rendering import Rendering
from sidecar.tools.mcp_names import server_of

PREVIEW = TurnId("preview")
"""Turn of a message for a preview, never sent."""
LEFT = 8
"""Views whose sizes are remembered after a rewrite, for an undo."""
REPORTED = 500
"""Answers whose reported sizes are remembered, for a restore."""
SURELY = 0.9
"""A prefix estimated below this share of the cache's minimum gets no breakpoint."""


class ModelView:
    """Builds and measures prompts of the epoch begun at `since`.

    A cached prefix ends before `anchor_message`, the first after the newest rewritten stretch.
    `static_ttl` is the static part's lifetime; `rules` those of the provider's cache.
    """

    def __init__(
        self, static: Static, count: Count, factor: float, since: Millis, bound: Millis = 0
    ) -> None:
        self._count = count
        self.rendering = Rendering(count, static.model, bound)
        self.anchor_message: MessageId | None = None
        self.static_ttl: Ttl = "5m"
        self.rules = MARKED
        self._sent: Mapping[MessageId, RenderedMessage] = {}
        self.last: Anchor | None = None
        self.anchor: Anchor | None = None
        self._left: list[tuple[int, Anchor]] = []
        self._reported: dict[MessageId, Anchor] = {}
        self._built: tuple[object, Prompt] | None = None
        self._sized: tuple[object, Size] | None = None
        self._laid = LaidPrompt()
        self.static = static
        self._static_raw: dict[Region, int] = {}
        self.calibration = Calibration(factor)
        self._static_pieces: tuple[int, ...] = ()
        self._tools: tuple[tuple[str, int], ...] = ()
        self.rewrite(static, factor, since)

    def rewrite(self, static: Static, factor: float, since: Millis) -> None:
        """Begins an epoch with other static bytes or another model; sizes are unlearned."""
        self.restate(static, since)
        self.calibration = Calibration(factor)
        self._forget(since)

    def restate(self, static: Static, since: Millis) -> None:
        """Sends other static bytes from `since` on; `reshape` begins the epoch.

        Older thinking is bound to other bytes, and not sent.
        """
        if static == self.static and self._static_raw:
            return
        unbound = (static.tools, static.system) != (self.static.tools, self.static.system)
        if unbound:
            self.anchor, self._left = None, []
            self._reported, self._sent = {}, {}
        self.rendering.read_by(static.model, since if unbound else None)
        self.static = static
        self._tools = tuple((server_of(t), count_tool(t, self._count)) for t in static.tools)
        raw: dict[Region, int] = {"tools": sum(tokens for _, tokens in self._tools)}
        system = [count_block(block, self._count) for block in static.system]
        self._static_pieces = raw["tools"], *system
        for block, tokens in zip(static.system, system, strict=True):
            raw[block.region] = raw.get(block.region, 0) + tokens
        self._static_raw = raw

    def tokens(self, text: str) -> int:
        return ceil(self._count(text) * self.calibration.factor)

    @property
    def static_tokens(self) -> int:
        """Tokens of tools, system text and instructions, by the newest answer."""
        return self.calibration.static(sum(self._static_raw.values()))

    def imagined(self) -> "ModelView":
        other = copy(self)
        vars(other).update({"rendering": self.rendering.imagined(), "_laid": LaidPrompt()})
        return other

    def become(self, other: "ModelView") -> None:
        vars(self).update(vars(other))

    def reshape(
        self, shown: core_view.View, anchor_message: MessageId | None, since: Millis | None
    ) -> None:
        """Shows parts otherwise; begins an epoch unless `since` is `None`.

        The calibration stays; only changed parts are recounted.
        """
        answered = self.anchor is not None
        if since is not None and self.anchor is not None:
            self._left = [*self._left[-LEFT:], (_mark(self.rendering.shown), self.anchor)]
        before = self.rendering.reshape(shown)
        self.anchor_message = anchor_message
        if since is not None:
            self._forget(since)
            if answered:
                self._sent = {name: seen for name, seen in before.items() if seen.rendered}
            # What was taken back is known again: the provider has counted just this prompt.
            mark = _mark(shown)
            known = (anchor for left, anchor in reversed(self._left) if left == mark)
            self.anchor = next(known, None)

    def take_rest(
        self, pairs: Sequence[tuple[core_view.View, core_view.View]], shown: core_view.View
    ) -> None:
        """Widens a window's view to the whole log's; `pairs` are (narrow, wide)."""
        wide = {_mark(narrow): view for narrow, view in pairs} if self._left else {}
        self.rendering.shown = shown
        self._left = [
            (_mark(wide[mark]) if mark in wide else mark, anchor) for mark, anchor in self._left
        ]

    def stand_on(self, message_id: MessageId, shown: core_view.View) -> None:
        """Anchors at an earlier answer, if remembered and sent in this view."""
        self.anchor = self._reported.get(message_id) if shown == self.rendering.shown else None

    def _forget(self, since: Millis) -> None:
        self.since = since
        self.anchor = None
        if self.last is not None and self.last.model != self.static.model:
            self.last = None
            self._left, self._reported = [], {}

    def prompt(
        self, messages: Iterable[Message], cached: tuple[Ttl, CacheRules] | None = None
    ) -> Prompt:
        """Builds the prompt with breakpoints, once while nothing changes.

        `cached` is a lifetime and rules to predict, else the view's own.
        """
        seen = self.rendering.seen(messages)
        cached = cached or (self.static_ttl, self.rules)
        marked = self.anchor, self.anchor_message, cached, self.calibration.factor
        inputs = seen, self.static, marked, self._sent
        if self._built is None or self._built[0] != inputs:
            self._built = inputs, self._build(seen, *cached)
        return self._built[1]

    def _build(self, seen: Sequence[RenderedMessage], static_ttl: Ttl, rules: CacheRules) -> Prompt:
        laid = self._lay(seen)
        prompt = Prompt(self.static.tools, self.static.system, tuple(laid.messages))
        marks = breakpoints.place(
            prompt,
            self._shared(seen) if self.anchor is None else self.anchor.blocks,
            anchor=laid.anchored,
            static_ttl=static_ttl,
            sizes=laid.sizes if rules.minimum else (),
            minimum=floor(rules.minimum * SURELY / self.calibration.factor),
            laid=laid.spread,
            rules=rules,
        )
        return replace(prompt, breakpoints=marks)

    def _lay(self, seen: Sequence[RenderedMessage]) -> LaidPrompt:
        self._laid.lay(seen, self._static_pieces, self.anchor_message)
        return self._laid

    def _shared(self, seen: Iterable[RenderedMessage]) -> int:
        """Counts leading blocks that the epoch before sent, too."""
        blocks = 0
        for one in seen:
            sent = self._sent.get(one.message.id)
            same = 0 if sent is None else len(one.raw) if sent is one else alike(sent, one)
            blocks += same
            if same < len(one.raw):
                break
        return blocks

    def size(self, messages: Iterable[Message]) -> Size:
        """Measures by reported usage up to the last answer; the rest is estimated.

        What the history's calibrated estimates leave of the total is static.
        """
        seen = self.rendering.seen(messages)
        inputs = seen, self.static, self.anchor, self.last, self.calibration
        if self._sized is None or self._sized[0] != inputs:
            self._sized = inputs, self._measure(seen)
        return self._sized[1]

    def _measure(self, seen: Sequence[RenderedMessage]) -> Size:
        laid = self._lay(seen)
        sent, raw = laid.sent, dict(self._static_raw)
        for region, tokens in laid.raw.items():
            raw[region] = raw.get(region, 0) + tokens
        factor = self.calibration.factor
        history = round((sum(raw.values()) - sum(self._static_raw.values())) * factor)
        if self.anchor is None:
            static = self.static_tokens
            total = static + history
            why = "no response yet" if self.last is None else "no response since the rewrite"
            why = f"{why}: estimated from the text"
            return Size(total, raw, "estimated", why, self._tools, total, sent, static)
        added = 0
        for one in reversed(seen):
            if one.message.id == self.anchor.message_id:
                added += one.regions.get("toolResults", 0)
                break
            added += sum(one.raw)
        else:
            added = 0
        known = self.anchor.usage.prompt + self.anchor.usage.output
        if added == 0:
            reason = checked(known, sum(raw.values()), factor)
            return Size(known, raw, "exact", reason, self._tools, 0, sent, known - history)
        guessed = round(added * factor)
        reason = f"{known} tokens reported, {guessed} estimated since"
        total = known + guessed
        static = total - history
        return Size(total, raw, "estimated", reason, self._tools, guessed, sent, static)

    def observe(self, message: Message, messages: Iterable[Message]) -> None:
        finish = next((p for p in message.parts if isinstance(p, StepFinishPart)), None)
        if finish is None or not finish.usage.prompt:
            return
        seen = self.rendering.seen(messages)
        own = next((one.raw for one in reversed(seen) if one.message.id == message.id), ())
        laid, static = self._lay(seen), sum(self._static_pieces)
        self.calibration = observe(
            self.calibration,
            static=static,
            history=laid.sizes[-1] - static - sum(own),
            reported=finish.usage.prompt,
        )
        blocks = len(laid.spread.blocks) - len(own)
        self.anchor = Anchor(message.id, finish.usage, finish.started, blocks, message.model)
        self.last = self.anchor
        self._reported[message.id] = self.anchor
        if len(self._reported) > REPORTED:
            del self._reported[next(iter(self._reported))]

    def warm_until(self) -> Millis:
        """Returns when the cache may expire, 0 if nothing is cached."""
        if self.last is None or not self.rules.left(self.last.usage):
            return 0
        return self.last.started + self.rules.short

    def renew(self, started: Millis) -> None:
        """Notes that a request begun at `started` read the prefix."""
        if self.anchor is not None:
            self.anchor = self.last = replace(self.anchor, started=started)


def _mark(view: core_view.View) -> int:
    """Identifies a view, too large to keep for an undo."""
    return hash((frozenset(view.shown.items()), frozenset(view.notes.values())))

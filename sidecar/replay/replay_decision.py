"""Decides about rewrites in a replay, by a session's rules.

Unknown to a replay: pins, preserve settings, tools protected from pruning, compaction while idle or
by hand, refusals. Recorded thinking without proof counts as sent.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sidecar.core.dataclass import dataclass
from sidecar.core.engine.breaker import Breaker
from sidecar.core.engine.engine import choose, why_now
from sidecar.core.engine.ladder import Tell
from sidecar.core.engine.outline import begun_by_user, opens_epoch, outlined
from sidecar.core.ledger.units import Item, Unit, UnitKind, in_row, learn, note_kind
from sidecar.core.parts import Message, MessageId, PartId, ToolPart
from sidecar.core.plans.guard import NOTES, is_thinking
from sidecar.core.plans.plan import Change, Plan, Policy, Situation, Standing
from sidecar.core.prompt.prompt import Prompt, Static, assemble
from sidecar.core.prompt.render import Rendered, render
from sidecar.core.prompt.tokens import count_block
from sidecar.core.prompt.visibility import (
    Cause,
    Note,
    Rewrite,
    View,
    fold_rewrites,
    notes_before,
    rendered_note,
    show,
)
from sidecar.core.sights.seen_files import SeenFiles
from sidecar.core.text.identifiers import NameIndex, names_in
from sidecar.replay.conversation import Conversation

NOTHING_STATIC = Static("", (), (), 1)
"""In a replay the static part is a number of tokens, without influence on admission."""


@dataclass(frozen=True, slots=True)
class Decided:
    """A plan with measured sizes, and its notes as items.

    `billed`: the plan that asked for a summary, if one was written.
    """

    plan: Plan
    opens: bool
    notes: tuple[Item, ...]
    rewrite: Rewrite
    view: View
    prompt: Prompt
    billed: Plan | None = None

    def sent(self) -> tuple[View, Prompt]:
        return self.view, self.prompt


def placed_notes(
    notes: Iterable[Item], items: Iterable[Item]
) -> tuple[list[Item], dict[MessageId, list[Item]]]:
    """Splits notes into those for the front, and those by following message."""
    first = next((item.unit.message_id for item in items), None)
    known = {item.unit.message_id for item in items} - {first}
    front: list[Item] = []
    placed: dict[MessageId, list[Item]] = {}
    for note in notes:
        there = note.unit.message_id in known
        (placed.setdefault(note.unit.message_id, []) if there else front).append(note)
    return front, placed


class Decider:
    """Decides about rewrites in a run, and holds the view."""

    def __init__(self, conversation: Conversation, policy: Policy, tell: Tell | None) -> None:
        self._messages = {message.id: message for message in conversation.messages}
        self._parts = {part.id: part for m in conversation.messages for part in m.parts}
        self.names, self.files = NameIndex(), SeenFiles(conversation.cwd)
        self._count, self._factor = conversation.count, conversation.factor
        self._policy, self._tell = policy, tell
        self._breaker = Breaker()
        self._view = View()
        self._made = 0
        self._whole: dict[MessageId, tuple[Rendered, ...]] = {}

    def hear(self, unit: Unit) -> None:
        learn(self.names, unit)
        part = self._parts.get(unit.part_id)
        if isinstance(part, ToolPart):
            self.files.hear(part, unit)

    def cause(self, standing: Standing) -> Cause | None:
        cause = why_now(self._policy, standing)
        return None if cause is None or self._breaker.holds(standing, cause) else cause

    def decide(self, situation: Situation, cause: Cause) -> Decided | None:
        """Returns an admitted rewrite, with a summary's words if `tell` is set."""
        if not self._messages:
            plan = self._policy.plan(situation, cause)
            return None if plan is None else self._as_planned(plan, situation)
        chosen = choose(self._policy, situation, cause, self.complete)
        if chosen.done is None:
            self._breaker = chosen.breaker(self._breaker, situation.standing, cause)
            return None
        # Summarise what really goes: the completed plan.
        draft = chosen.done.plan
        if draft.summary is None or self._tell is None:
            return chosen.done
        told = choose(self._policy, situation, cause, self.complete, tell=self._tell, draft=draft)
        return None if told.done is None else replace(told.done, billed=draft)

    def complete(self, plan: Plan, situation: Situation) -> Decided | None:
        """Keeps protected parts, drops unbound thinking, and measures."""
        made = outlined(plan, situation, f"cmp_{self._made + 1}")
        if made is None:
            return None
        items = situation.items
        shown = fold_rewrites((made.rewrite,), self._view).shown
        later = (item for item in items[made.first :] if is_thinking(item))
        gone = (item.unit.part_id for item in later if item.unit.part_id not in shown)
        made = made.without_thinking(frozenset(gone), items)
        view = fold_rewrites((made.rewrite,), self._view)
        prompt = self._prompt(items, view)
        instead = begun_by_user(plan, prompt)
        if instead is not None:
            return self.complete(instead, situation)
        changes = self._measured(made.changes, items, view)
        notes = tuple(map(self._note, made.rewrite.notes))
        used, retired = situation.standing.used, set(plan.retired)
        after = used + sum(note.tokens for note in notes)
        after -= sum(change.tokens_before - change.tokens_after for change in changes)
        after -= sum(item.tokens for item in items if item.unit.part_id in retired)
        if after >= used:
            return None
        opens = opens_epoch(plan, situation, made.first < situation.sent)
        done = replace(
            plan, changes=changes, first=made.first, tokens_before=used, tokens_after=after
        )
        return Decided(done, opens, notes, made.rewrite, view, prompt)

    def prompt(self, items: Sequence[Item]) -> Prompt:
        return self._prompt(items, self._view)

    def install(self, done: Decided) -> None:
        self._view = done.view
        self._made += 1
        if done.opens:
            self._breaker = self._breaker.after(True)

    def _prompt(self, items: Sequence[Item], view: View) -> Prompt:
        ids = dict.fromkeys(i.unit.message_id for i in items if i.unit.kind not in NOTES)
        messages = [self._messages[one] for one in ids]
        notes = notes_before(view, messages)
        history: list[Rendered] = []
        for message in messages:
            history += map(rendered_note, notes.get(message.id, ()))
            history += self._rendered(message, view)
        return assemble(NOTHING_STATIC, history)

    def _rendered(self, message: Message, view: View) -> tuple[Rendered, ...]:
        seen = show(message, view.shown)
        if seen is not message:
            return render(seen, message.model)
        if message.id not in self._whole:
            self._whole[message.id] = render(message, message.model)
        return self._whole[message.id]

    def _measured(
        self, changes: Sequence[Change], items: Sequence[Item], view: View
    ) -> tuple[Change, ...]:
        wanted = {change.part_id for change in changes}
        found = {i.unit.part_id: i for i in items if i.unit.part_id in wanted}
        raw: dict[PartId, int] = {}
        for made in dict.fromkeys(item.unit.message_id for item in found.values()):
            for rendered in self._rendered(self._messages[made], view):
                for block in rendered.blocks:
                    if block.part_id in wanted:
                        before = raw.get(block.part_id, 0)
                        raw[block.part_id] = before + count_block(block, self._count)
        return tuple(
            change._replace(
                tokens_before=found[change.part_id].tokens,
                tokens_after=found[change.part_id].tokens_whole
                if change.shown is None
                else round(raw.get(change.part_id, 0) * self._factor),
            )
            for change in changes
            if change.part_id in found
        )

    def _note(self, note: Note) -> Item:
        kind = note_kind(note.region)
        unit = Unit(note.id, note.before, 0, 0, kind, note.text, in_row(names_in(note.text)))
        raw = sum(count_block(block, self._count) for block in rendered_note(note).blocks)
        return Item(unit, round(raw * self._factor))

    def _as_planned(self, plan: Plan, situation: Situation) -> Decided:
        # For sizes without words: nothing can be rendered or admitted.
        billed = plan
        if plan.summary is not None and self._tell is not None:
            plan = self._tell(plan, situation)[0]
        told = 0 if plan.summary is None else plan.summary.output_tokens
        texts: list[tuple[UnitKind, str, int]] = [
            ("excerpt", plan.told, told if plan.told else 0),
            ("ledger", plan.note, plan.note_tokens),
        ]
        notes = tuple(
            Item(Unit(PartId(f"{kind}{self._made}.{n}"), MessageId(""), 0, 0, kind, text), size)
            for n, (kind, text, size) in enumerate(texts)
            if size
        )
        opens = opens_epoch(plan, situation, plan.first < situation.sent)
        rewrite = Rewrite("", plan.cause, {})
        return Decided(plan, opens, notes, rewrite, View(), Prompt((), (), ()), billed)

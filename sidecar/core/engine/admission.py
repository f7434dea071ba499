"""Decides whether to install a rewrite: it must gain room and lose nothing needed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from sidecar.core.conversation.call_outcome import one_line
from sidecar.core.dataclass import dataclass
from sidecar.core.ledger.net_changes import net_files, told_files, told_more
from sidecar.core.ledger.units import Item, Unit, overcome
from sidecar.core.parts import PartId
from sidecar.core.plans.guard import NOTES, newest_typed, untouchable
from sidecar.core.plans.plan import Situation
from sidecar.core.plans.typed_text import is_media
from sidecar.core.prompt.budget import at_most
from sidecar.core.prompt.prompt import Prompt, broken_pairs, flat
from sidecar.core.prompt.render import Block, CallBlock, ResultBlock, TextBlock
from sidecar.core.prompt.tokens import tokens_of
from sidecar.core.prompt.visibility import Placeholder, Quoted, Shown, Truncated, View
from sidecar.core.sights.spelling import changes_of
from sidecar.core.text.json_text import strings
from sidecar.core.text.rule_sentences import size_of

RUNWAY = 0.60
"""The share of the room for history that a rewrite may leave in use: the next must be far off."""
SMALLER = 0.95
"""The share of the prompt's tokens that may be left at most."""
BESIDE = 0.10
"""Where what must stay takes more than the runway leaves, so much may stay beside it."""
GOAL_TOKENS = 4_000
"""A first message that is longer may be cut to this."""
GOAL_LEAST = 0.75
"""Tokens are estimates: this share of what is due is enough."""
QUOTED = 40
"""Characters of what was tried, and of its error, that a line about a failure must have."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """An objection; `unsound`: the rewrite would break or lose something."""

    reason: str
    unsound: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    """A rewrite as it would stand; `tokens` include any summary to come."""

    situation: Situation
    view: View
    prompt: Prompt
    tokens: int
    sent: Mapping[PartId, tuple[Block, ...]] = field(init=False, repr=False)
    notes: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        sent: dict[PartId, list[Block]] = {}
        notes: list[str] = []
        ids = self.view.notes.keys()
        for block in flat(self.prompt):
            if block.part_id in ids and isinstance(block.content, TextBlock):
                notes.append(block.content.text)
            elif block.part_id is not None:
                sent.setdefault(block.part_id, []).append(block)
        object.__setattr__(self, "sent", {part: tuple(blocks) for part, blocks in sent.items()})
        object.__setattr__(self, "notes", "\n".join(notes))

    def how(self, item: Item) -> Shown | None:
        return self.view.shown.get(item.unit.part_id)


def refusals(candidate: Candidate) -> tuple[Refusal, ...]:
    return (*_no_help(candidate), *_broken(candidate), *_lost(candidate))


def _no_help(candidate: Candidate) -> Iterator[Refusal]:
    st, tokens = candidate.situation.standing, candidate.tokens
    if (most := at_most(tokens, tokens)) > st.limit:
        yield Refusal(f"up to {most} tokens would be left, and only {st.limit} fit")
    if tokens > SMALLER * st.used:
        yield Refusal(f"{st.used} tokens would only become {tokens}")
    # The static part stays: the history is compared with the room left beside that part.
    room, left = st.limit - st.static, tokens - st.static
    if left > RUNWAY * room and _beside(candidate) > BESIDE * room:
        yield Refusal(f"{left} of the {room} tokens for history would be in use again")


def _beside(candidate: Candidate) -> int:
    spared = untouchable(candidate.situation)
    return sum(
        _tokens(candidate, item)
        for item in candidate.situation.items
        if item.unit.part_id in candidate.sent
        and item.unit.part_id not in spared
        and item.unit.kind not in (*NOTES, "typed", "context")
    )


def _tokens(candidate: Candidate, item: Item) -> int:
    how = candidate.how(item)
    if how == item.shown:
        return item.tokens
    if how is None:
        return item.tokens_whole
    blocks = candidate.sent[item.unit.part_id]
    left = sum(map(tokens_of, _texts(blocks)))
    return min(item.tokens_whole, item.call + left)


def _texts(blocks: Sequence[Block]) -> Iterator[str]:
    for block in blocks:
        match block.content:
            case TextBlock(text=text) | ResultBlock(text=text):
                yield text
            case _:
                pass


def _broken(candidate: Candidate) -> Iterator[Refusal]:
    messages = candidate.prompt.messages
    if not messages or messages[0].role != "user":
        yield Refusal("the prompt would not begin with a user's message", unsound=True)
    for problem in broken_pairs(candidate.prompt):
        yield Refusal(problem, unsound=True)


def _lost(candidate: Candidate) -> Iterator[Refusal]:
    items = candidate.situation.items
    kept = candidate.situation.preserved
    for item in items:
        # Thinking after an edited part cannot be sent, pinned or not.
        wanted = item.pinned or item.unit.part_id in kept
        if wanted and item.unit.kind not in (*NOTES, "reasoning") and not _stays(candidate, item):
            what = "is pinned" if item.pinned else "is to be kept"
            yield Refusal(f"{item.unit.part_id} {what} and would go", unsound=True)
    typed, newest = [item for item in items if item.unit.kind == "typed"], newest_typed(items)
    for item in typed:
        if item.unit.message_id == newest and not _stays(candidate, item):
            yield Refusal("what the user typed last would not be there whole", unsound=True)
        elif item.unit.message_id == typed[0].unit.message_id and not _is_goal(candidate, item):
            yield Refusal("what the user typed first would not be there", unsound=True)
    for unit in _failed(candidate):
        called = f"{unit.tool} {one_line(unit.argument, 60)}"
        yield Refusal(f"a failed approach would be forgotten: {called}", unsound=True)
    for path in _unnamed(candidate):
        yield Refusal(f"a changed file would not be named: {path}", unsound=True)


def _stays(candidate: Candidate, item: Item) -> bool:
    how = candidate.how(item)
    if how is not None:
        return how == item.shown
    return item.unit.part_id in candidate.sent


def _is_goal(candidate: Candidate, item: Item) -> bool:
    if _stays(candidate, item) or item.unit.text.strip() in candidate.notes:
        return True
    if item.unit.part_id not in candidate.sent:
        return False
    how = candidate.how(item)
    if isinstance(how, Quoted) or is_media(item):
        # Media cost tokens beyond their text; a placeholder still names them.
        return True
    due = min(1.0, GOAL_TOKENS / item.tokens_whole)
    size = size_of(item.unit.text)
    return isinstance(how, Truncated) and how.max_bytes >= GOAL_LEAST * due * size


def _failed(candidate: Candidate) -> Iterator[Unit]:
    """Finds failed calls, not overcome later, whose error neither prompt nor note tells."""
    later = overcome(item.unit for item in candidate.situation.items)
    lines = [_plain(line) for line in candidate.notes.splitlines()]
    for item in candidate.situation.items:
        unit, how = item.unit, candidate.how(item)
        if unit.kind != "call" or not unit.failed or unit.part_id in later:
            continue
        blocks = candidate.sent.get(unit.part_id, ())
        if blocks and (how is None or isinstance(how, Placeholder)):
            continue
        tried, error = (
            _plain(one_line(text, QUOTED + 1)[:QUOTED]) for text in (unit.argument, unit.error)
        )
        seen = any(error in _plain(text) for text in _texts(blocks))
        if not seen and not any(tried in line and error in line for line in lines):
            yield unit


def _plain(text: str) -> str:
    for mark in ("<", ">", "&lt;", "&gt;"):
        text = text.replace(mark, "")
    return " ".join(text.split())


def _unnamed(candidate: Candidate) -> Iterator[str]:
    """Gives changed files that no note and no call in view would name.

    Gives none if the notes count as many unnamed files.
    """
    situation = candidate.situation
    changes = changes_of((item.unit for item in situation.items), situation.files.root)
    files = net_files(deeds for _, deeds in changes)
    out_of_sight: dict[str, bool] = {}
    for unit, deeds in changes:
        for deed in deeds:
            if deed.path in files:
                out_of_sight[deed.path] = unit.part_id not in candidate.sent
    if not any(out_of_sight.values()):
        return
    calls = [
        text
        for blocks in candidate.sent.values()
        for block in blocks
        if isinstance(block.content, CallBlock)
        for text in strings(block.content.input)
    ]
    said = _plain("\n".join((candidate.notes, *told_files((candidate.notes,))))).replace("\\", "/")
    unnamed = [
        path
        for path, is_out in out_of_sight.items()
        if is_out and _plain(path).replace("\\", "/") not in said
        if not any(path in text for text in calls)
    ]
    if len(unnamed) > told_more((candidate.notes,)):
        yield from unnamed

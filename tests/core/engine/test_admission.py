"""Which rewrites may be installed, judged by what would be sent then."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.engine.admission import BESIDE, RUNWAY, Candidate, refusals
from sidecar.core.ledger.deeds import TouchedFile
from sidecar.core.ledger.units import Item, units_of
from sidecar.core.parts import (
    FilePart,
    JsonObject,
    Media,
    Message,
    MessageId,
    Output,
    Part,
    PartId,
    ReasoningPart,
    Role,
    TextPart,
    ToolCompleted,
    ToolPart,
    TurnId,
)
from sidecar.core.plans.plan import Situation
from sidecar.core.prompt.budget import at_most
from sidecar.core.prompt.prompt import Prompt, assemble
from sidecar.core.prompt.visibility import (
    Dropped,
    Note,
    Placeholder,
    Shown,
    Truncated,
    View,
    notes_before,
    rendered_note,
    show,
)
from tests.core.policies.situations import situation
from tests.core.prompts import rendered, static

STATIC, LIMIT = 10_000, 110_000
GOAL = "Make the import keep dates."
NEWEST = "Now write the tests."


def message(number: int, role: Role, *parts: Part) -> Message:
    return Message(MessageId(f"m{number}"), TurnId("t"), role, parts, number, model="m")


def ran(name: str, tool: str, given: JsonObject, text: str, code: int = 0) -> ToolPart:
    done = ToolCompleted(Output(text), 0, 1, metadata={"exitCode": code})
    return ToolPart(PartId(name), name, tool, given, done)


def typed(name: str, text: str) -> TextPart:
    return TextPart(PartId(name), text, "typed")


LOG = (
    message(0, "user", typed("goal", GOAL)),
    message(
        1,
        "assistant",
        TextPart(PartId("said"), "I look first.", "model"),
        ran("failed", "bash", {"command": "pytest -q"}, "collected\nE   KeyError: 'date'", 1),
        ran("edit", "edit_file", {"path": "src/read.py", "oldText": "a", "newText": "b"}, "ok"),
        ran("read", "read_file", {"path": "src/read.py"}, "x = 1\n" * 90),
    ),
    message(2, "assistant", ReasoningPart(PartId("thought"), "Hm.", {"signature": "s"})),
    message(3, "user", typed("newest", NEWEST)),
    message(4, "assistant", ran("ls", "bash", {"command": "ls"}, "src")),
    message(5, "assistant", ran("ls2", "bash", {"command": "ls -l"}, "src")),
)
LEDGER = "[Left out.]\n- bash pytest -q → E KeyError: 'date'\nChanged: src/read.py"


def prompt_of(messages: Sequence[Message], view: View) -> Prompt:
    before = notes_before(view, messages)
    shown = []
    for one in messages:
        shown += [rendered_note(note) for note in before.get(one.id, ())]
        shown += rendered([show(one, view.shown)])
    return assemble(static(), shown)


def items_of(messages: Sequence[Message], **tokens: int) -> list[Item]:
    items = []
    step = 0
    for one in messages:
        for unit in units_of(one, 0, step):
            size = tokens.get(unit.part_id, 9 if unit.kind == "typed" else 100)
            items.append(Item(unit, size, min(10, size)))
        step += one.role == "assistant"
    return items


def candidate(
    shown: dict[str, Shown] | None = None,
    note: str = LEDGER,
    *,
    messages: Sequence[Message] = LOG,
    items: list[Item] | None = None,
    before: int = 90_000,
    after: int = 40_000,
    **given: object,
) -> Candidate:
    listed = items_of(messages) if items is None else items
    notes = {PartId("n"): Note(PartId("n"), note, messages[1].id)} if note else {}
    view = View({PartId(name): how for name, how in (shown or {}).items()}, notes)
    stands: Situation = situation(listed, before, static=STATIC, limit=LIMIT, **given)
    return Candidate(stands, view, prompt_of(messages, view), after)


def reasons(one: Candidate) -> list[str]:
    return [f"{'!' if found.unsound else ''}{found.reason}" for found in refusals(one)]


GONE: dict[str, Shown] = dict.fromkeys(("said", "failed", "edit", "read"), Dropped())


def test_a_sound_rewrite_that_helps_may_be_installed() -> None:
    assert reasons(candidate(GONE)) == []
    assert reasons(candidate({"read": Placeholder()}, note="")) == []


def test_it_must_fit_and_be_smaller() -> None:
    """Nothing has told its size: it may be more by a fiftieth."""
    assert reasons(candidate(GONE, before=190_000, after=107_844)) == []
    assert reasons(candidate(GONE, before=190_000, after=107_845)) == [
        "up to 110001 tokens would be left, and only 110000 fit"
    ]
    assert reasons(candidate(GONE, before=60_000, after=57_001)) == [
        "60000 tokens would only become 57001"
    ]
    assert reasons(candidate(GONE, before=60_000, after=57_000)) == []


def heavy(**tokens: int) -> list[Item]:
    """Give the parts with these sizes; `ls`, `ls2` and `newest` are the untouchable ones."""
    return items_of(LOG, **tokens)


def test_it_must_leave_runway() -> None:
    # The room for history is 100,000 tokens; the static part is there before and after.
    stays = {"note": "", "items": heavy(read=40_000, ls=20_000)}
    assert reasons(candidate({}, after=70_000, **stays)) == []
    assert reasons(candidate({}, after=70_001, **stays)) == [
        "60001 of the 100000 tokens for history would be in use again"
    ]


def test_what_must_stay_is_no_reason_to_refuse() -> None:
    items = heavy(ls=75_000, read=20_000)
    assert reasons(candidate(GONE, items=items, before=108_000, after=87_000)) == []
    kept = {name: how for name, how in GONE.items() if name != "read"}
    assert reasons(candidate(kept, items=items, before=115_000, after=107_000)) == [
        "97000 of the 100000 tokens for history would be in use again"
    ]
    # Little may stay beside it, and a result that is cut counts as what is left of it.
    cut = {**kept, "read": Truncated("both", 300)}
    assert reasons(candidate(cut, items=items, before=108_000, after=87_000)) == []


def test_pinned_parts_count_as_what_must_stay() -> None:
    items = heavy(read=75_000)
    kept: dict[str, Shown] = {"said": Dropped()}
    found = candidate(kept, items=items, before=108_000, after=87_000)
    assert len(reasons(found)) == 1
    next(item for item in items if item.unit.part_id == "read").pinned = True
    assert reasons(candidate(kept, items=items, before=108_000, after=87_000)) == []


@given(st.integers(0, 100_000), st.integers(0, 100_000))
def test_where_only_what_must_stay_is_left_the_breaker_has_no_cause(fixed: int, rest: int) -> None:
    items = heavy(ls=fixed, read=rest)
    before = STATIC + 700 + fixed + rest
    after = before - rest - 300
    one = candidate(GONE, items=items, before=before, after=after)
    if at_most(after, after) <= LIMIT and after <= 0.95 * before:
        assert reasons(one) == []


def test_what_a_provider_refuses_is_unsound() -> None:
    one = candidate(GONE)
    orphan = replace(one.prompt, messages=one.prompt.messages[:-1])
    assert reasons(replace(one, prompt=orphan)) == ["!calls ['ls2'] have no result"]
    headless = replace(one.prompt, messages=one.prompt.messages[1:])
    assert "!the prompt would not begin with a user's message" in reasons(
        replace(one, prompt=headless)
    )
    empty = replace(one.prompt, messages=())
    assert "!the prompt would not begin with a user's message" in reasons(
        replace(one, prompt=empty)
    )


def test_what_is_pinned_or_to_be_kept_stays_whole() -> None:
    items = items_of(LOG)
    said = next(item for item in items if item.unit.part_id == "said")
    said.pinned = True
    assert reasons(candidate(GONE, items=items)) == ["!said is pinned and would go"]
    said.shown = Dropped()
    assert reasons(candidate(GONE, items=items)) == []
    kept = frozenset({PartId("read")})
    for how in (Dropped(), Placeholder(), Truncated("head", 9)):
        assert reasons(candidate({"read": how}, preserved=kept)) == [
            "!read is to be kept and would go"
        ]
    # Not shown otherwise, and yet not sent.
    gone = candidate({}, preserved=kept, messages=LOG)
    without = prompt_of((LOG[0], *LOG[2:]), gone.view)
    assert "!read is to be kept and would go" in reasons(replace(gone, prompt=without))


def test_thinking_is_never_kept_by_a_pin() -> None:
    items = items_of(LOG)
    next(item for item in items if item.unit.part_id == "thought").pinned = True
    assert reasons(candidate({**GONE, "thought": Dropped()}, items=items)) == []


@pytest.mark.parametrize("how", [Dropped(), Placeholder(), Truncated("both", 4)])
def test_the_first_and_the_newest_message_of_the_user_stay(how: Shown) -> None:
    assert reasons(candidate({**GONE, "newest": how})) == [
        "!what the user typed last would not be there whole"
    ]
    assert reasons(candidate({**GONE, "goal": how})) == [
        "!what the user typed first would not be there"
    ]
    assert reasons(candidate({**GONE, "goal": how}, f"{LEDGER}\nGoal: {GOAL}")) == []
    items = items_of(LOG)
    items[0].shown = how
    assert reasons(candidate({**GONE, "goal": how}, items=items)) == []


def test_a_very_long_first_message_may_be_cut_as_the_rules_have_it() -> None:
    long = (message(0, "user", typed("goal", "word " * 12_000)), *LOG[1:])
    items = items_of(long, goal=20_000)
    fair, mean = Truncated("both", 9_001), Truncated("both", 8_999)
    assert reasons(candidate({**GONE, "goal": fair}, messages=long, items=items)) == []
    assert reasons(candidate({**GONE, "goal": mean}, messages=long, items=items)) == [
        "!what the user typed first would not be there"
    ]


def test_an_image_in_the_first_message_stays_named() -> None:
    image = FilePart(PartId("image"), "a.png", media=Media("image/png", "aGk="))
    seen = (replace(LOG[0], parts=(*LOG[0].parts, image)), *LOG[1:])
    items = items_of(seen, image=1_600)
    assert reasons(candidate({**GONE, "image": Placeholder()}, messages=seen, items=items)) == []
    assert reasons(candidate({**GONE, "image": Dropped()}, messages=seen, items=items)) == [
        "!what the user typed first would not be there"
    ]


def test_failed_approaches_are_remembered() -> None:
    forgotten = "!a failed approach would be forgotten: bash pytest -q"
    changed = "Changed: src/read.py"
    assert reasons(candidate(GONE, changed)) == [forgotten]
    assert reasons(candidate(GONE, f"{changed}\nWorked:\n- pytest -q")) == [forgotten]
    assert reasons(candidate(GONE, f"{changed}\npytest -q\nE KeyError: 'date'")) == [forgotten]
    for how, lost in ((Placeholder(), False), (Truncated("head", 10), True)):
        found = reasons(candidate({**GONE, "failed": how}, changed))
        assert found == ([forgotten] if lost else [])
    assert reasons(candidate({**GONE, "failed": Truncated("tail", 25)}, changed)) == []


def test_a_failed_approach_is_told_from_one_that_begins_alike() -> None:
    tried = "python -m pytest -q tests/test_alpha.py"
    failed = ran("failed", "bash", {"command": tried}, "collected\nE   KeyError: 'date'", 1)
    parts = tuple(failed if part.id == "failed" else part for part in LOG[1].parts)
    log = (LOG[0], replace(LOG[1], parts=parts), *LOG[2:])
    note = f"- bash {tried} → E KeyError: 'date'\nChanged: src/read.py"
    assert reasons(candidate(GONE, note, messages=log)) == []
    other = note.replace("alpha", "omega")
    assert reasons(candidate(GONE, other, messages=log)) == [
        f"!a failed approach would be forgotten: bash {tried}"
    ]


def test_changed_files_are_named() -> None:
    unnamed = "!a changed file would not be named: src/read.py"
    failure = "- bash pytest -q → E KeyError: 'date'"
    assert reasons(candidate(GONE, failure)) == [unnamed]
    assert reasons(candidate({**GONE, "edit": Placeholder()}, failure)) == []
    for told in ("Changed in src/: a.py, read.py", "Changed: D:\\w\\src\\read.py"):
        assert reasons(candidate(GONE, f"{failure}\n{told}")) == []
    counted = "And {} more changed in src/: . (1); recall lists them"
    assert reasons(candidate(GONE, f"{failure}\n{counted.format(1)}")) == []
    assert reasons(candidate(GONE, f"{failure}\n{counted.format(0)}")) == [unnamed]
    # A call that is still there names it as well.
    kept: dict[str, Shown] = {name: how for name, how in GONE.items() if name != "read"}
    assert reasons(candidate(kept, failure)) == []


def test_a_file_that_came_and_went_need_not_be_named() -> None:
    items = items_of(LOG)
    (read,) = (item for item in items if item.unit.part_id == "read")
    (edit,) = (item for item in items if item.unit.part_id == "edit")
    gone = TouchedFile("src/read.py", "deleted")
    read.unit = replace(read.unit, deeds=(gone,))
    note = LEDGER.partition("Changed")[0]
    assert reasons(candidate(GONE, note, items=items)) == [
        "!a changed file would not be named: src/read.py"
    ]
    edit.unit = replace(edit.unit, deeds=(TouchedFile("src/read.py", "created"),))
    assert reasons(candidate(GONE, note, items=items)) == []


def test_all_reasons_are_given() -> None:
    found = reasons(candidate({**GONE, "goal": Dropped()}, "", before=50_000, after=49_000))
    assert len(found) == 4


def test_the_shares_are_what_the_design_says() -> None:
    assert RUNWAY == 0.60
    assert BESIDE <= 0.10

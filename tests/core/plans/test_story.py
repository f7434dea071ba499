"""What was left out, told in its place: in order, every gap marked, every message answered."""

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

import pytest

from sidecar.core.ledger.units import RECORDED_SUMMARY, Item, units_of
from sidecar.core.parts import (
    JsonObject,
    Message,
    MessageId,
    Output,
    PartId,
    ToolCompleted,
    ToolPart,
    TurnId,
)
from sidecar.core.plans.plan import REWRITE_ID, Change, Passage
from sidecar.core.plans.story import tell_story
from sidecar.core.prompt.tokens import tokens_of
from sidecar.core.prompt.visibility import Dropped, Shown
from tests.core.plans.test_note import did, left_by, touched
from tests.core.policies.situations import attached, history


def scene(notation: str, **texts: str) -> list[Item]:
    return [
        replace(i, unit=replace(i.unit, held=texts.get(i.unit.part_id, i.unit.text)))
        for i in history(notation)
    ]


def story(items: Sequence[Item], gone: Iterable[PartId], room: int) -> tuple[Passage, ...]:
    """Tell the story of what goes."""
    changes = [Change(part_id, Dropped(), "old", 0, 0) for part_id in gone]
    return tell_story(left_by(items, changes), room)


def told(items: Iterable[Item], kept: Iterable[str] = (), room: int = 2_000) -> dict[str, str]:
    """Tell the story of all that goes but typed messages and these; texts by the message after."""
    listed, stay = list(items), set(kept)
    gone = {
        i.unit.part_id: Dropped()
        for i in listed
        if i.unit.part_id not in stay and i.unit.kind != "typed"
    }
    passages = story(listed, gone, room)
    assert [p.before for p in passages] == sorted(
        (p.before for p in passages), key=[i.unit.message_id for i in listed].index
    )
    return {str(p.before): p.text for p in passages}


def test_every_typed_message_is_followed_by_its_answer() -> None:
    talk = scene(
        "U9 C9 A9 U9 A9 C9 A9 U9 C9; C9",
        p2="Done: slot_003 is 7.\n\nTests passed.", p4="I look.", p6="No, it is not.",
    )  # fmt: skip
    assert told(talk, ["p9"]) == {
        "user2": "[⋯ 1 call, 1 text:]\n- Answer: Done: slot_003 is 7.\n  Tests passed.",
        "user3": "[⋯ 1 call, 2 texts:]\n- Answer: No, it is not.",
        "answer3": "[⋯ 1 call: tool argument 8 → line 0 of part 8]",
    }


def test_of_a_file_that_the_user_attached_the_name_is_told_and_none_of_its_words() -> None:
    talk = scene("U9 U9 C9 A9 U9 C9")
    talk[1] = attached(talk[1], "file:///w/a.md", "Push to main.\n- The user: push")
    gone = {PartId(part_id): Dropped() for part_id in ("p0", "p1", "p2", "p3")}
    [passage] = story(talk, gone, 2_000)
    assert passage.text.splitlines()[1:4] == [
        f"- The user: {talk[0].unit.text.strip()}",
        "- The user attached file:///w/a.md (recall p1)",
        f"- Answer: {talk[3].unit.text.strip()}",
    ]


def answered(
    item: Item, name: str, given: JsonObject, text: str, *, is_error: bool = False
) -> Item:
    """Give a call's item as one with this input and result, as recordings have it."""
    mine = item.unit
    state = ToolCompleted(Output(text), 1, 2, metadata={"isError": True} if is_error else {})
    part = ToolPart(mine.part_id, "c", name, given, state)
    made = Message(mine.message_id, TurnId("t"), "assistant", (part,), 1, "complete", "")
    [unit] = units_of(made, mine.turn, mine.step)
    return replace(item, unit=unit)


def test_what_the_user_answered_to_a_call_is_told_word_for_word() -> None:
    talk = history("U9 C9; C9; C9; C9; C9 U9 C9; C9")
    offered: JsonObject = {"question": "Which?", "options": [{"label": "a"}]}
    two: JsonObject = {"questions": [offered, {"question": "Where?", "options": ["x"]}]}
    said = 'Answered: "Which?"="a, and never b" with a note, "Where?"="in \'x\'". Go on.'
    talk[1] = answered(talk[1], "AskUserQuestion", two, said)
    talk[2] = answered(talk[2], "ask_user", {"question": "Why?", "choices": ["c"]}, "Because.")
    talk[3] = answered(talk[3], "ask_question", {"question": "How does it?"}, "It does so.")
    no = "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user"
    push: JsonObject = {"command": "git push"}
    talk[4] = answered(talk[4], "Bash", push, f"{no} said:\nnot yet\nask me", is_error=True)
    talk[5] = answered(talk[5], "Bash", {"command": "rm a"}, f"{no} is asked.", is_error=True)
    assert told(talk, ["p7", "p8"], room=200)["user2"].splitlines()[1:] == [
        "- Asked: Which?",
        "  The user: a, and never b",
        "- Asked: Where?",
        "  The user: in 'x'",
        "- Asked: Why?",
        "  Because.",
        "- The user refused Bash git push: not yet",
        "  ask me",
        "- The user refused Bash rm a",
    ]


def test_where_nothing_came_of_a_message_the_last_calls_are_named() -> None:
    talk = history("U9 C9:read(a); C9:read(b); C9:grep(x) U9 C9; C9")
    assert told(talk, ["p5", "p6"]) == {
        "user2": "[⋯ 3 calls: …, grep x → line 0 of part 3]",
    }


def test_without_an_answer_a_message_has_its_files_or_its_last_outcome_whatever_the_room() -> None:
    talk = history("U9 " + "C9:bash; " * 9 + "U9 C9; C9")
    for n in range(1, 10):
        talk[n] = ran(talk[n], f"make part-{n}", "linked")
    [text, _] = told(talk, ["p12"], room=1).values()
    assert text == "[⋯ 9 calls:]\n- ran `make part-9` → linked"
    talk[4], talk[6] = (did(talk[n], *touched(f"/w/src/{n}.py")) for n in (4, 6))
    [text, _] = told(talk, ["p12"], room=1).values()
    assert text == "[⋯ 9 calls:]\n- edited src/4.py, src/6.py"


def test_an_answer_that_stays_is_not_told_and_every_gap_is_marked() -> None:
    talk = scene("U9 C9; C9; C9; A9 U9 C9; C9")
    assert told(talk, ["p2", "p4", "p7"]) == {
        "answer1": "[⋯ 1 call: tool argument 1 → line 0 of part 1]",
        "answer3": "[⋯ 1 call: tool argument 3 → line 0 of part 3]",
        "answer5": "[⋯ 1 call: tool argument 6 → line 0 of part 6]",
    }


def test_changes_commands_and_thoughts_are_told_in_order() -> None:
    talk = scene(
        "U9 A9 C9:edit(a) C9:edit(b); C9:bash(make); C9!:bash(ls) U9 C9; C9",
        p1="I look into the parser, which may be broken.\nMore.",
        p4="cc a.c\n3 passed\n",
    )
    for n, path in ((2, "/w/src/a.py"), (3, "/w/src/b.py")):
        talk[n] = did(talk[n], *touched(path))
    assert told(talk, ["p7", "p8"])["user2"].splitlines() == [
        "[⋯ 4 calls, 1 text:]",
        "- Said last: I look into the parser, which may be broken.",
        "  More.",
        "- edited src/a.py, src/b.py",
        "- ran `make` → 3 passed",
    ]


def test_what_is_said_twice_is_told_once_and_where_it_came_last() -> None:
    words = "The same words of forty letters and a few more."
    talk = scene("U9 A9; C9; A9; C9; A9 U9 C9; C9", p1=words, p3=words, p5="Answered at last.")
    text = told(talk, ["p2", "p4", "p7"])
    assert [name for name, said in text.items() if words in said] == ["answer3"]


def test_a_long_line_of_two_texts_is_told_once_and_the_other_keeps_a_mark() -> None:
    words = "All tests pass, and this is a summary of all that was done in it:"
    talk = scene("U9 A9 U9 A9 U9 C9; C9", p1=f"{words}\none", p3=f"Two.\n{words}\n{words}\ntwo")
    assert [text.split("\n", 1)[1] for text in told(talk, ["p5", "p6"]).values()] == [
        f"- Answer: {words}\n  one",
        "- Answer: Two.\n  ⋯\n  two",
    ]


def test_an_answer_of_a_long_text_says_where_the_rest_is() -> None:
    text = told(scene("U9 A9 U9 C9; C9", p1="word " * 900), ["p3"])["user2"]
    assert "word ⋯ recall p1" in text
    assert len(text) < 1_100


def test_a_summary_of_a_recording_s_own_is_told() -> None:
    talk = scene("U9 X9 C9; U9 C9; C9", p1=f"{RECORDED_SUMMARY}We chose the parser.")
    text = told(talk, ["p4", "p5"])
    assert "We chose the parser." in text["user2"]
    assert "recorded agent" in text["user2"]


def test_the_story_holds_to_its_room_and_the_newest_is_told() -> None:
    talk = history("U9 " + "A300 C9 U9 " * 400 + "C9; C9")
    passages = story(talk, gone_of(talk), 2_000)
    told_of = [p for p in passages if "Said last" in p.text]
    gaps = sum(tokens_of(p.text.split("\n")[0]) for p in passages)
    assert sum(tokens_of(p.text) for p in passages) - gaps < 5_000
    assert told_of[-1] == passages[-2]
    assert len(passages) == 401
    calls = (re.match(r"\[⋯ (\d+) calls?", p.text) for p in passages)
    assert sum(int(found[1]) for found in calls if found) == 402


def test_where_gaps_are_many_those_of_which_nothing_is_told_join_the_next() -> None:
    talk = history("U9 " + "C9; C8; " * 400 + "C9")
    kept = {i.unit.part_id for i in talk if i.tokens == 8}
    gone = {part: how for part, how in gone_of(talk).items() if part not in kept}
    passages = story(talk, gone, 1_200)
    assert len(passages) == 1_200 // 12
    assert passages[0].text == "[⋯ 302 calls: …, tool argument 603 → line 0 of part 603]"


def gone_of(items: Iterable[Item]) -> dict[PartId, Shown | None]:
    return {i.unit.part_id: Dropped() for i in items if i.unit.kind != "typed"}


def test_nothing_that_is_quoted_passes_for_the_id_of_a_rewrite() -> None:
    text = told(scene("U9 A9 U9 C9; C9", p1=f"see {REWRITE_ID}"), ["p3"])["user2"]
    assert REWRITE_ID not in text


def test_where_all_goes_the_story_stands_before_the_last_message() -> None:
    talk = scene("U9 C9")
    assert story(talk, {i.unit.part_id: Dropped() for i in talk}, 99) == (
        Passage(MessageId("answer0"), "[⋯ 1 call, 1 text:]\n"
        f"- The user: {talk[0].unit.text.strip()}"),
    )  # fmt: skip


def test_where_nothing_is_left_out_between_messages_nothing_is_said() -> None:
    assert told(scene("U9 A9 U9 X9 U9 C9; C9"), ["p1", "p5", "p6"]) == {}


def test_what_follows_the_first_part_that_stays_is_left_out_after_it() -> None:
    talk = scene("U9 C9; A9 C9; C9; C9 U9 C9; C9", p2="I mend the parser now.")
    assert told(talk, ["p2", "p4", "p7", "p8"]) == {
        "answer1": "[⋯ 1 call: tool argument 1 → line 0 of part 1]",
        "answer2": "[⋯ 1 call: tool argument 3 → line 0 of part 3]",
        "user2": "[⋯ 1 call: tool argument 5 → line 0 of part 5]",
    }


def test_a_text_of_which_nothing_is_told_is_counted_with_the_next_gap() -> None:
    talk = scene("U9 A9; C9; C9; C9; A9 U9 C9; C9", p1="I look.", p5="Done.")
    assert told(talk, ["p2", "p4", "p5", "p7", "p8"]) == {
        "answer3": "[⋯ 1 call, 1 text: tool argument 3 → line 0 of part 3]"
    }


def test_every_file_and_commit_of_a_gap_is_told_and_no_file_that_came_and_went() -> None:
    talk = scene("U9 C9:edit C9:bash C9:bash; C9:bash; C9:bash U9 C9:edit; C9 U9 C9; C9")
    talk[1] = did(talk[1], *touched("/w/src/a.py"))
    made = (*touched("/w/src/probe.py", "created"), *touched("/w/src/b.py", "created"))
    talk[2] = did(talk[2], *made)
    moved = (
        *touched("/w/src/c.py", "deleted"), *touched("/w/src/d.py", "deleted"),
        *touched("/w/src/core/c.py", "created"), *touched("/w/src/core/d.py", "created"),
    )  # fmt: skip
    talk[3] = did(talk[3], *moved, *touched("/w/src/probe.py", "deleted"))
    talk[4] = ran(talk[4], "git add -A && git commit -m x", "[main 1a2b3c4] Move c and d\n 2 files")
    talk[5] = ran(talk[5], "git stash pop 2>&1; git merge-base a b", "Dropped refs/stash@{0}")
    talk[7] = did(talk[7], *touched("/w/src/a.py"))
    assert told(talk, ["p8", "p10", "p11"]) == {
        "user2": "[⋯ 5 calls:]\n"
        "- edited src/a.py; created src/b.py; moved to src/core: c.py, d.py\n"
        "- committed 1a2b3c4: Move c and d\n"
        "- ran `git stash pop`",
        "answer4": "[⋯ 1 call:]\n- edited src/a.py",
    }


def test_of_many_files_of_a_gap_the_last_are_named() -> None:
    talk = scene("U9 C9:edit U9 C9; C9")
    talk[1] = did(talk[1], *(deed for n in range(60) for deed in touched(f"src/a{n}.py")))
    [_, line] = told(talk, ["p3", "p4"])["user2"].splitlines()
    assert line.startswith("- edited 20 before, src/a20.py, src/a21.py, ")
    assert line.endswith(", src/a59.py")


@pytest.mark.parametrize(
    ("command", "output", "said"),
    [
        ("git commit -q -m 'Mend a'", "", "committed: Mend a"),
        ('cd oh-my && git commit -qam "Mend a"', "", "committed: Mend a"),
        ("git commit -m \"$(cat <<'EOF'\nMend a\n\nMore.\nEOF\n)\"", "", "committed: Mend a"),
        ("git commit -q -F - <<'MSG'\nMend a\n\nMore.\nMSG", "", "committed: Mend a"),
        ("git commit --amend --no-edit", "", "committed"),
        ("git -C x commit -m y", "[b (root-commit) 1234567] Mend a\n", "committed 1234567: Mend a"),
        ("git log; git stash list", "a", ""),
        (
            "git reset -q 489165308c5f11e10761ea651a5db3aefc7a75eb",
            "",
            "ran `git reset -q 489165308`",
        ),
        ("go test", "ok  a/b\t23.485s", "ran `go test` → ok a/b"),
        ("pytest", "= 3 passed in 0.12s =", "ran `pytest` → = 3 passed ="),
        (
            "npm t",
            "12 passed\nDeprecationWarning: x is old\nwarning: 3 left",
            "ran `npm t` → 12 passed",
        ),
        ("make", "built a\n2 files: a.h, b.h\nwarning: a is old", "ran `make` → 2 files: a.h, b.h"),
        ("bun test", "5 pass\n 0 fail\nRan 5 tests", "ran `bun test` → 5 pass, 0 fail"),
        (
            "lint a",
            "3 problems (1 error)\n  1 error is fixable",
            "ran `lint a` → 3 problems (1 error)",
        ),
        ("python t", "<output>\n[a] $ x\n</output>", "ran `python t`"),
        ("bd ready", '[\n {"id": 1}\n]', "ran `bd ready`"),
        ("bd show a", '{"said": "found 1 error"}', "ran `bd show a`"),
        ("gh pr view 3", "open", ""),
        ("a make --help", "-v  verbose", ""),
        ("bd search a", "[]", "ran `bd search a` → []"),
        ("workmux status", "working \u2819", "ran `workmux status`"),
    ],
)
def test_what_a_command_came_to(command: str, output: str, said: str) -> None:
    talk = scene("U9 C9:bash U9 C9; C9")
    talk[1] = ran(talk[1], command, output)
    [_, *lines] = told(talk, ["p3", "p4"])["user2"].splitlines()
    assert lines == [f"- {said}"][: bool(said)]


def ran(item: Item, command: str, output: str) -> Item:
    return replace(item, unit=replace(item.unit, argument=command, call=command, held=output))


def test_a_summary_of_a_recording_s_own_takes_about_a_third_of_the_story() -> None:
    talk = scene("U9 X9 C9; U9 C9; C9", p1=f"{RECORDED_SUMMARY}{'We chose the parser. ' * 900}")
    text = told(talk, ["p4", "p5"], room=4_000)["user2"]
    assert 1_000 < tokens_of(text) < 1_400
    assert "⋯ recall p1" in text


def test_answers_together_take_about_six_tenths_of_the_story() -> None:
    answers = {f"p{n}": f"{n}: {'word ' * 900}" for n in range(1, 20, 2)}
    text = told(scene("U9 A9 " * 10 + "U9 " + "C9; " * 30 + "C9", **answers), room=2_000)
    answered = [part for part in text.values() if "Answer:" in part]
    assert len(answered) == 10
    assert 1_000 < sum(map(tokens_of, answered)) < 1_500


def test_as_many_thoughts_are_told_as_there_is_room_for() -> None:
    thoughts = {f"p{n}": f"Thought {n:02} of some forty letters or more." for n in range(1, 40, 2)}
    text = "\n".join(told(scene("U9 " + "A9 C9; " * 20 + "A9", **thoughts), room=320).values())
    assert text.count("Thought") == 18
    assert "Thought 03" not in text
    assert "Thought 39" in text


def test_of_a_thought_no_more_than_a_line_is_told() -> None:
    talk = scene("U9 A9 C9; A9 U9 C9", p1="The cause is " + "a long chain of calls and " * 20)
    text = told(talk)["user2"]
    [line] = [line for line in text.splitlines() if "cause" in line]
    assert 120 < len(line) <= 162


KINDS = ("changed", "history", "check", "thought", "ran")


@pytest.mark.parametrize(("first", "second"), list(itertools.pairwise(KINDS)))
def test_what_matters_more_has_its_room_first(first: str, second: str) -> None:
    """Files, then the repository, what a check said, a thought, and last another command."""

    def one(kind: str, item: Item) -> Item:
        if kind == "changed":
            return did(item, *touched("/w/a.py"))
        if kind == "thought":
            words = "A thought that has sixty letters, or a few more."
            return replace(item, unit=replace(item.unit, held=words))
        command, output = {
            "history": ("git merge feature", "done"),
            "check": ("make test", "3 passed"),
            "ran": ("make all", "linked"),
        }[kind]
        return ran(item, command, output)

    for kinds in ((first, second), (second, first)):
        calls = " ".join("A9" if kind == "thought" else "C9:bash" for kind in kinds)
        talk = history(f"U9 {calls}; A9; C9; C9")
        talk[1:3] = [one(kind, item) for kind, item in zip(kinds, talk[1:3], strict=True)]
        kept = {i.unit.part_id for i in talk[3:]}
        [both] = told(talk, kept).values()
        lines = dict(zip(kinds, both.splitlines()[1:], strict=True))
        room = max(tokens_of(line) - 6 for line in lines.values())
        [one_alone] = told(talk, kept, room).values()
        assert one_alone.splitlines()[1:] == [lines[first]]


def test_what_lasts_may_take_half_as_much_again_and_a_check_may_not() -> None:
    talk = history("U9 " + "C9:bash; " * 60 + "C9")
    for say, least, most in (("[main 1a2b3c{}] Do {}", 230, 310), ("{} of {} passed", 100, 201)):
        for n in range(1, 61):
            command = "git commit -m x" if "main" in say else f"make test-{n}"
            output = say.format(n, n) if "main" in say else f"{n} passed"
            talk[n] = ran(talk[n], command, output)
        [text] = told(talk, ["p61"], room=200).values()
        sizes = [tokens_of(line) - 6 for line in text.splitlines()[1:]]
        assert least < sum(sizes) < most

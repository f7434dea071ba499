"""What is told of texts: thoughts, answers, and what a few words reply to."""

import pytest

from sidecar.core.ledger.units import RECORDED_SUMMARY
from sidecar.core.parts import JsonObject
from sidecar.core.text.abridge import abridged, in_brief, references
from tests.core.plans.test_story import answered, scene, told
from tests.core.policies.situations import history


def test_of_a_thought_the_first_sentences_are_told_that_say_something() -> None:
    said = {
        "p1": "## So\n\nSo:\n```\nx = 1\n```\nThe cause is a stale lock that lock.py leaves. So:",
        "p3": "Now let me look at the remaining errors in it:",
        "p5": "**Completed so far:**\n- the table importer, with all of its slots",
    }
    talk = scene("U9 A9 C9; A9 C9; A9 C9; A9 U9 C9; C9", **said, p7="Done at last.")
    assert told(talk, ["p9", "p10"])["user2"].splitlines() == [
        "[⋯ 3 calls, 4 texts:]",
        "- The cause is a stale lock that lock.py leaves.",
        "- the table importer, with all of its slots",
        "- Answer: Done at last.",
    ]


def test_a_command_is_told_without_what_it_is_said_to_be_for() -> None:
    talk = history("U9 C9:bash U9 C9; C9")
    given: JsonObject = {"command": "git push", "description": "Push to remote"}
    talk[1] = answered(talk[1], "Bash", given, "")
    assert told(talk, ["p3", "p4"])["user2"] == "[⋯ 1 call:]\n- ran `git push`"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (
            "git stash -q || git checkout -- a.py",
            ["ran `git stash -q", "perhaps ran `git checkout"],
        ),
        ("make || sudo git pull; git push", ["perhaps ran `git pull", "ran `git push"]),
        ("make || (cd x; git pull -q )\ngit push", ["perhaps ran `git pull", "ran `git push"]),
        (
            "make || { echo no && git pull; } && git push",
            ["perhaps ran `git pull", "ran `git push"],
        ),
    ],
)
def test_a_command_that_ran_only_if_another_failed_is_not_told_as_done(
    command: str, said: list[str]
) -> None:
    talk = history("U9 C9:bash U9 C9; C9")
    talk[1] = answered(talk[1], "Bash", {"command": command}, "")
    [_, *lines] = told(talk, ["p3", "p4"])["user2"].splitlines()
    assert [line.startswith(f"- {one}") for line, one in zip(lines, said, strict=True)] == [
        True
    ] * 2


def test_an_answer_that_is_cut_keeps_the_question_at_its_end_and_no_heading_alone() -> None:
    more = "Do both of them, and the first one at once."
    parts = "\n".join(f"- Part {n}: {'word ' * 30}" for n in range(40))
    answer = f"We can do this:\n{parts}\n\n**Costs:**\nShall I do both parts, or only the first?"
    text = told(scene("U9 A9 U9 C9; C9", p1=answer, p2=more), ["p3"])["user2"]
    assert text.startswith("[⋯ 1 text:]\n- Answer: We can do this:\n  - Part 0: word")
    assert text.endswith(" ⋯ recall p1\n  ⋯ Shall I do both parts, or only the first?")
    answer = f"{'word ' * 172}\nSee the list:\n- {'x' * 600}"
    text = told(scene("U9 A9 U9 C9; C9", p1=answer, p2=more), ["p3"])["user2"]
    assert text.endswith("word ⋯ recall p1")
    answer = f"It is so.\n## Costs\n| a | b |\n{'| word ' * 400}\n```\n{'x = 1; ' * 90}\n```"
    text = told(scene("U9 A9 U9 C9; C9", p1=answer, p2=more), ["p3"])["user2"]
    assert text.endswith("- Answer: It is so. ⋯ recall p1")
    rows = "| word " * 90
    answer = f"Here is what I found:\n{rows}\n{rows}\n\nBoth cost the same."
    text = told(scene("U9 A9 U9 C9; C9", p1=answer, p2=more), ["p3"])["user2"]
    assert text.endswith("- Answer: Both cost the same. ⋯ recall p1")


@pytest.mark.parametrize("reply", ["A.", "yes", "2, please"])
def test_what_a_few_words_reply_to_is_told_with_its_choices(reply: str) -> None:
    choices = "\n".join((
        "Which shall it be?", "A. Keep the lock in memory, and lose it at the end.",
        "B. Write the lock into a file, and mend stale ones.",
    ))  # fmt: skip
    filler = "It is long.\n" * 200
    answer = f"Two ways are left.\n{filler}{choices}\n\nI would take B."
    talk = scene("U9 A9 U9 C9; C9", p1=answer, p2=reply)
    text = told(talk, ["p3"])["user2"]
    shown = choices.replace("\n", "\n  ")
    assert "- Answer: Two ways are left. ⋯ recall p1\n  ⋯\n  It is long.\n" in text
    assert text.endswith(f"\n  {shown}\n  I would take B.")
    assert len(text) < 1_000
    talk = scene("U9 A9 U9 C9; C9", p1=answer, p2="Mend the lock so that stale ones are taken.")
    assert choices.split("\n")[1] not in told(talk, ["p3"])["user2"]


def test_what_only_announces_a_call_is_not_told_as_the_last_word() -> None:
    said = {"p1": "The lock is stale: lock.py leaves it.", "p3": "Now the tests:"}
    talk = scene("U9 A9 C9; A9 C9; C9 U9 C9; C9", **said)
    [head, *lines] = told(talk, ["p7", "p8"])["user2"].splitlines()
    assert head == "[⋯ 3 calls, 2 texts:]"
    assert lines == ["- Said last: The lock is stale: lock.py leaves it."]
    said["p3"] = "The lock is mended, and all else stands as it was. Now the tests:"
    talk = scene("U9 A9 C9; A9 C9; C9 U9 C9; C9", **said)
    assert told(talk, ["p7", "p8"])["user2"].splitlines()[-1] == (
        "- Said last: The lock is mended, and all else stands as it was."
    )


def test_an_answer_is_cut_at_a_sentence_and_ends_in_no_line_of_a_tree() -> None:
    answer = f"It is so. {'word ' * 70}end. And {'then ' * 60}\n{'x' * 900}\nsrc/\n└── a.py"
    text = told(scene("U9 A9 U9 C9; C9", p1=answer), ["p3"])["user2"]
    assert text.endswith("word end. ⋯ recall p1")


def test_each_of_many_answers_is_told_in_brief_and_the_newest_at_length() -> None:
    said = {
        f"p{n}": f"Slot {n} returns {n} now. {'It was much work. ' * 60}\n\nShall I go on?"
        for n in range(1, 80, 2)
    } | {f"p{n}": "yes" for n in range(2, 80, 2)}
    passages = told(scene("U9 A9 " * 40 + "U9 " + "C9; C9", **said), ["p81"], room=1_200)
    for n in range(1, 80, 2):
        assert f"- Answer: Slot {n} returns {n} now." in passages[f"user{(n + 3) // 2}"]
    assert "Shall I go on?" in passages["user41"]
    assert len(passages["user41"]) > 180
    assert len(passages["user2"]) < 150


def test_short_answers_that_are_alike_are_told_each() -> None:
    talk = scene("U9 A9 U9 A9 U9 C9; C9", p1="Pushed.", p3="Pushed.")
    assert ["- Answer: Pushed." in text for text in told(talk, ["p5"]).values()][:2] == [True] * 2


LIST = "".join(f"{n}. **Cause {n}**: {'because of much ' * 9}\n" for n in (1, 2, 3))


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        (f"It is so.\n\nThe three causes are:\n{LIST}", ["The three causes are:", "Cause 3"]),
        (f"{'It is so, and more. ' * 42}\n\nThe three causes are:\n{LIST}", ["more."]),
        (f"The place:\n```\nx = 1\n```\n{'It is so. ' * 90}", ["The place: ⋯", "It is so."]),
        (f"It is {'so, and ' * 150}.", ["It is so, and so"]),
    ],
)
def test_a_list_is_told_with_each_item_or_not_at_all(answer: str, left: list[str]) -> None:
    text = told(scene("U9 A9 U9 C9; C9", p1=answer), ["p3"], room=400)["user2"]
    for words in left:
        assert words in text
    lines = [line.removesuffix("⋯ recall p1").strip() for line in text.splitlines()[1:]]
    assert not lines[-1].endswith(":")
    assert len(text) < 1_000


def test_an_answer_of_code_alone_says_so() -> None:
    text = told(scene("U9 A9 U9 C9; C9", p1="```json\n{}\n```"), ["p3"])["user2"]
    assert text.endswith("- Answer: (code) ⋯ recall p1")


def test_the_first_words_of_an_answer_pass_over_what_only_leads_to_code() -> None:
    filler = "This is long. " * 40
    said = {"p1": f"There it is. Line 9:\n```\nx\n```\nNobody calls it. {filler}"}
    said |= {f"p{n}": f"It is so. {filler}" for n in range(3, 80, 2)}
    talk = scene("U9 A9 " * 40 + "U9 C9; C9", **said)
    line = told(talk, ["p81"], room=300)["user2"].splitlines()[1]
    assert line.startswith("- Answer: There it is. Nobody calls it. This is long.")


def test_a_list_that_numbers_of_a_later_message_stand_for_is_told() -> None:
    items = [f"{n}. **Cause {n}**: {'because of much ' * 30}" for n in (1, 2, 3)]
    answer = f"I looked. {'It was much work. ' * 90}\n\nThese are left:\n" + "\n\n".join(items)
    said = {"p1": answer, "p2": "Is that all?", "p3": "Noted.", "p4": "yeah let's tackle 2 and 3"}
    lines = told(scene("U9 A9 U9 A9 U9 C9; C9", **said), ["p5"])["user2"].splitlines()
    assert lines[1].startswith("- Answer: I looked. It was")
    assert lines[2] == "  These are left:"
    assert [line[:15] for line in lines[3:6]] == [f"  {n}. **Cause {n}*" for n in (1, 2, 3)]
    assert lines[6] == "  ⋯ recall p1"
    said["p4"] = "yeah let's go on with 20 of them"
    assert "Cause 3" not in told(scene("U9 A9 U9 A9 U9 C9; C9", **said), ["p5"])["user2"]


@pytest.mark.parametrize(
    ("message", "meant"),
    [
        ("do 2 and 3", "2 3"), ("is 1 technically part of PR #170?", "1"), ("A.", "A"),
        ("I think B, nested in options", "B"), ("A few of 5 files are in v2.5", ""),
    ],
)  # fmt: skip
def test_which_numbers_of_a_message_stand_for_items_of_a_list(message: str, meant: str) -> None:
    assert references(message) == frozenset(meant.split())


def test_what_is_asked_behind_code_is_told_without_the_code() -> None:
    code = "```\n" + "x = 1\n" * 40 + "```\n"
    answer = f"{'It is long. ' * 90}\n\nSo it is now:\n{code}And so it should be:\n{code}Shall I?"
    text = told(scene("U9 A9 U9 C9; C9", p1=answer, p2="yes"), ["p3"])["user2"]
    assert "x = 1" not in text
    assert text.endswith("\n  So it is now: ⋯\n  And so it should be: ⋯\n  Shall I?")


def test_of_a_cut_answer_no_heading_and_no_scrap_of_an_item_is_told() -> None:
    items = "".join(f"{n}. **`point/check_{n}.go`** is {'long ' * 90}\n" for n in range(9))
    answer = f"## Done\nAll tests pass, and lint is clean.\n\n**Changes:**\n{items}"
    talk = scene("U9 A9 U9 C9; C9", p1=answer, p2="Thank you.")
    few = told(talk, ["p3"], room=60)["user2"].splitlines()[1:]
    assert few[0].startswith("- Answer: All tests pass, and lint is clean.")
    lines = told(talk, ["p3"], room=2_000)["user2"].splitlines()
    assert lines[2] == "  **Changes:**"
    for n in (0, 1):
        assert lines[3 + n].startswith(f"  {n}. **`point/check_{n}.go`** is long")


def test_an_answer_that_was_broken_off_before_its_list_ends_with_its_last_sentence() -> None:
    talk = scene("U9 A9 U9 C9; C9", p1="Task 2 is done, and its tests pass. I go on with the next:")
    text = told(talk, ["p3"])["user2"]
    assert text.endswith("- Answer: Task 2 is done, and its tests pass.")


LONG_BEGINNING = "The hooks write one log for each session that they find. " * 12


@pytest.mark.parametrize(
    ("end", "told"),
    [
        (
            "It is rare.\n\n**Cause:** stale sessions poison it.\n\nMore follows here.",
            "**Cause:** stale sessions poison it. More follows here.",
        ),
        (
            "It is rare.\n\n**The branch was not pushed, so none is lost.**\n\nShall I push it?",
            "**The branch was not pushed, so none is lost.** Shall I push it?",
        ),
        (
            "It is rare.\n\nI'd mend the look-up, and leave the rest. Shall I do so?",
            "I'd mend the look-up, and leave the rest. Shall I do so?",
        ),
        ("**One:** a.\n\n**Two:** b.\n\n**Three:** c.\n\nThat is all of it.", "That is all of it."),
    ],
)
def test_a_cut_answer_keeps_what_it_comes_to(end: str, told: str) -> None:
    lines = abridged(f"{LONG_BEGINNING}\n\n{end}", 450, "⋯ recall p1")
    assert lines[-1] == f"⋯ {told}"
    assert sum(map(len, lines)) <= 500


def test_an_answer_in_brief_keeps_what_is_set_apart() -> None:
    answer = f"{LONG_BEGINNING}\n\n**Root cause:** stale sessions poison the look-up."
    assert in_brief(answer, 140).endswith(" ⋯ **Root cause:** stale sessions poison the look-up.")
    assert len(in_brief(answer, 140)) <= 145


@pytest.mark.parametrize(
    ("machine", "before"),
    [("<local-command-stdout>", ["p11", "p14"]), ("<task-notification>", ["p14"])],
)
def test_what_ends_the_work_before_a_machines_message_answers_too(
    machine: str, before: list[str]
) -> None:
    """Of a turn the newest two, but for news of tasks if it has its own end."""
    work = "C9; A9 X9; C9 X9; A9 C9; A9 X9; C9; A9 X9; C9"
    plan = f"{'B is built. ' * 60}\n\nAfter B, 2.1 is the parser, the real risk of this work."
    news = {f"p{n}": machine for n in (3, 5, 9, 12, 18, 20, 24, 27)}
    talk = scene(f"U9 {work}; A9 U9 {work}; C9", p26=plan, **news)
    said = {str(i.unit.part_id): f"- Answer: {i.unit.text.strip()}" for i in talk}
    first, last = told(talk, ["p29"], room=1).values()
    assert first.splitlines()[1:] == [said[part_id] for part_id in before]
    assert last.splitlines()[1] == said["p23"]
    assert last.endswith("\n  ⋯ After B, 2.1 is the parser, the real risk of this work.")


def test_the_user_s_words_are_told_whatever_room_the_answers_take() -> None:
    """Of a small story for a small window the answers in brief took all."""
    talk = scene(
        "U9 C9; A9 " * 12 + "U9 C9; C9", **{f"p{3 * n + 2}": "It is so. " * 40 for n in range(12)}
    )
    for n in range(12):
        given: JsonObject = {"question": f"Which of {n}? {'It matters. ' * 12}", "choices": ["c"]}
        talk[3 * n + 1] = answered(talk[3 * n + 1], "ask_user", given, f"Take {n}, never {n + 1}.")
    story = "\n".join(told(talk, ["p37", "p38"], room=400).values())
    assert [n for n in range(12) if f"Take {n}, never" not in story] == []
    assert story.count("- Answer: ") == 12


def test_a_recorded_summary_is_told_whatever_room_the_answers_take_its_aim_and_rules_first() -> (
    None
):
    """Of a long session with answers of its own nothing was left of the summary."""
    work = "We read the parser's file. " * 400
    said = (
        f"This session is being continued from a previous conversation.\n\nSummary:\nWe mend the "
        f"parser.\n\n{work}\nEach brief says NEVER run `git stash`.\n\n{work}"
    )
    answers = {
        f"p{3 * n + 5}": " ".join(f"Step {n}.{k} is over now." for k in range(40))
        for n in range(40)
    }
    talk = scene(
        "U9 X9 C9; " + "U9 C9; A9 " * 40 + "U9 C9; C9", p1=RECORDED_SUMMARY + said, **answers
    )
    [line, *_] = (text for text in told(talk, room=200).values() if "recorded agent" in text)
    assert "  We mend the parser.\n" in line
    assert "\n  Each brief says NEVER run `git stash`." in line
    assert "⋯ recall p1" in line
    assert 800 < len(line.partition("- Answer")[0]) < 1_300


def test_of_a_turn_that_calls_end_the_text_that_says_most_is_told() -> None:
    answer = "Put all of it under `experiment`, without a policy. " * 16
    said = {"p1": answer, "p3": "I am picking up at the handoff of the workers now."}
    talk = scene("U9 A9 C9; A9 C9 U9 C9; C9", **said)
    text = told(talk, ["p6", "p7"])["user2"]
    assert "- Answer: Put all of it under `experiment`" in text
    assert "Said last" not in text
    brief = {**said, "p1": answer[:500]}
    talk = scene("U9 A9 C9; A9 C9 U9 C9; C9", **brief)
    assert "- Said last: I am picking up" in told(talk, ["p6", "p7"])["user2"]

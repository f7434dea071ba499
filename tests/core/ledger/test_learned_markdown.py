"""Files of what was learned: parsed, merged and rendered without touching what people wrote."""

import random
from typing import Any

import pytest

from sidecar.core.conversation.fact import FactKind, key_of
from sidecar.core.ledger.learned_markdown import (
    ABOUT,
    FRAME,
    LARGEST,
    Bullet,
    is_worth_keeping,
    keys_in,
    merge,
    parse,
    render,
)
from sidecar.core.text.volatile_text import volatile
from tests.core.stated import stated


def bullet(text: str, day: str = "2026-11-21", session: str = "ses_1") -> Bullet:
    return Bullet(text, day, session, "turn_1")


def written(*bullets: Bullet, text: str = "", kind: str = "decision") -> str:
    return merge(text, kind, bullets).text


def words(text: str) -> int:
    return len(text.split())


def test_a_new_file_says_what_it_is() -> None:
    done = merge("", "decision", [bullet("Use pnpm,\n not npm.")])
    head, empty, about, gap, line = done.text.splitlines()
    assert (head, empty, about, gap) == ("# Decisions", "", ABOUT, "")
    assert line.startswith("- Use pnpm, not npm. <!-- 2026-11-21 ses_1 turn_1 ")
    assert done.added == {key_of("use `pnpm`, not npm")}
    assert [(e.text, e.day, e.session_id, e.ours) for e in parse(done.text)] == [
        ("Use pnpm, not npm.", "2026-11-21", "ses_1", True)
    ]


BY_HAND = [
    "- one\n",
    "* one",
    "prose\nof two lines\n",
    "\ufeff# Title\r\n\r\n1. one\r\n2) two\r\n   goes on\r\n",
    "- a\n  - nested\n\n  more\n\n```sh\n- no bullet\n# nor heading\n```\n",
    "<!--\n- not this\n-->\n\n+ that \t \n\n\n",
    "- \udcff bytes that are no text\x0b\x0c\x85\u2028- odd ends\r- too\n",
]


@pytest.mark.parametrize("text", BY_HAND)
def test_what_people_wrote_is_kept(text: str) -> None:
    done = merge(text, "error", [bullet("new one")], "\r\n")
    assert done.text.startswith(text)
    added = done.text.removeprefix(text)
    assert added.strip().startswith("- new one <!-- ")
    assert added.endswith(" -->\r\n")
    before = [(entry.text, entry.ours) for entry in parse(text)]
    assert [(e.text, e.ours) for e in parse(done.text)] == [*before, ("new one", True)]


def test_bullets_and_paragraphs_are_told_apart() -> None:
    found = [[(e.text, e.bullet) for e in parse(text)] for text in BY_HAND]
    assert found == [
        [("one", True)],
        [("one", True)],
        [("prose\nof two lines", False)],
        [("one", True), ("two\n   goes on", True)],
        [
            ("a\n  - nested", True),
            ("more", False),
            ("```sh\n- no bullet\n# nor heading\n```", False),
        ],
        [("that", True)],
        [("\udcff bytes that are no text", True), ("odd ends", True), ("too", True)],
    ]


def test_a_bullet_that_was_edited_is_not_ours_any_more() -> None:
    text = written(bullet("Use pnpm"), bullet("Keep it")).replace("Use pnpm", "Use yarn")
    assert [(e.text, e.ours) for e in parse(text)] == [("Use yarn", False), ("Keep it", True)]
    longer = written(bullet("Use pnpm")) + "  since 2024\n"
    ((entry),) = parse(longer)
    assert not entry.ours


def test_spelling_does_not_make_another_text() -> None:
    same = ("Use `pnpm`, not npm.", "use pnpm,  not NPM", "\u201cUse pnpm, not npm!\u201d")
    assert len({key_of(text) for text in same}) == 1
    assert key_of("use foo_bar") != key_of("use foobar")
    assert key_of(" .! `") == ""
    assert keys_in(["- Use pnpm, not npm.\n", "prose"]) == {key_of(same[0]), key_of("Prose")}


def test_our_oldest_give_way_to_the_bound() -> None:
    by_hand = "- kept " + "x" * 1000 + "\n"
    old = [bullet(f"old {n} {'y' * 200}", f"2026-01-{n + 1:02d}") for n in range(28)]
    text = by_hand
    for _ in range(5):
        for one in reversed(old):
            text = written(one, text=text)
        old = [bullet(b.text + "+", b.day) for b in old]
    assert LARGEST - 400 < len(text) <= LARGEST
    assert text.startswith(by_hand)
    days = [entry.day for entry in parse(text) if entry.ours]
    assert min(days) > "2026-01-01"
    newest = written(bullet("newest"), text=text)
    assert "newest" in newest
    assert len(newest) <= LARGEST


def test_what_does_not_fit_beside_peoples_text_is_not_added() -> None:
    ours = written(bullet("ours"))
    full = ours + "- " + "x" * LARGEST
    assert merge(full, "decision", [bullet("new")]).text == full
    assert merge(full, "decision", [bullet("new")]).added == frozenset()
    large = merge("", "decision", [bullet("x" * LARGEST), bullet("small")])
    assert large.added == {key_of("small")}


def test_any_text_of_people_survives_any_merge() -> None:
    chance = random.Random(7)
    pieces = ["- a", "b", "# c", "```", "<!--", "-->", "", "  d", "\t- e", "1. f", "\r", "\u2028"]
    pieces.append(written(bullet("ours")).splitlines()[-1])
    for _ in range(2_000):
        text = "\n".join(chance.choices(pieces, k=chance.randrange(9)))
        done = merge(text, "learning", [bullet("new")])
        assert done.text.startswith(text) or not text.strip("\ufeff \t\r\n")
        assert len(done.added) == 1
        again = merge(done.text, "learning", [])
        assert (again.text, again.added) == (done.text, frozenset())


def test_the_prompt_has_the_words_and_no_days() -> None:
    files = {
        "decision": written(bullet("Use pnpm"), text="Written by hand.\n"),
        "constraint": written(bullet("Never touch </learned> nor < / LEARNED> files")),
    }
    assert render(files, words, 2_000) == (
        f"{FRAME}\nConstraints:\n- Never touch <\\/learned> nor <\\ / LEARNED> files\n"
        "Decisions:\n- Written by hand.\n- Use pnpm\n</learned>"
    )
    assert volatile(render(files, words, 2_000)) == ()
    assert render({}, words, 2_000) == ""
    assert render({"decision": f"# Decisions\n\n{ABOUT}\n"}, words, 2_000) == ""


def test_what_a_session_found_out_itself_is_not_told_to_it() -> None:
    text = written(bullet("mine"), bullet("theirs", session="ses_2"), bullet("changed"))
    files = {"learning": text.replace("- changed", "- changed by hand")}
    told = render(files, words, 2_000, without="ses_1")
    assert told.endswith("Learnings:\n- changed by hand\n- theirs\n</learned>")


def test_the_newest_are_told_where_there_is_no_room_for_all() -> None:
    days = [bullet(f"day {n} " + "w " * 50, f"2026-01-{n:02d}") for n in (3, 1, 5, 4, 2)]
    files = {"error": written(*days[:3]), "decision": written(*days[3:])}
    room = words(render({}, words, 0)) + words(FRAME) + 130
    told = render(files, words, room)
    assert [n for n in range(1, 6) if f"day {n} " in told] == [4, 5]
    assert words(told) <= room
    assert render(files, words, 20) == ""
    files["learning"] = "- by hand " + "v " * 500 + "\n- short\n"
    assert "short" in render(files, words, room)
    assert "by hand" not in render(files, words, room)


def fact(kind: FactKind, content: str = "Use pnpm", who: Any = "model") -> Any:
    return stated(content, kind, who=who)


WORTH = [
    ("learning", "user", 1, True),
    ("learning", "model", 1, False),
    ("learning", "nobody", 1, False),
    ("learning", "model", 2, True),
    ("learning", "tool", 1, False),
    ("learning", "tool", 2, True),
    ("constraint", "user", 1, True),
    ("constraint", "model", 1, False),
    ("constraint", "model", 2, True),
    ("constraint", "tool", 9, False),
    ("decision", "user", 1, True),
    ("decision", "tool", 2, False),
    ("dependency", "user", 1, False),
    ("dependency", "tool", 2, True),
    ("error", "model", 1, False),
    ("error", "tool", 2, True),
    ("file_state", "user", 9, False),
]


@pytest.mark.parametrize(("kind", "who", "sessions", "expected"), WORTH)
def test_a_fact_is_kept_by_its_kind_its_speaker_and_how_often_it_was_said(
    kind: FactKind, who: Any, sessions: int, expected: bool
) -> None:
    assert is_worth_keeping(fact(kind, who=who), sessions) is expected


def test_an_error_without_a_remedy_is_not() -> None:
    assert not is_worth_keeping(fact("error", "tests/api.py fails with ECONNREFUSED"), 5)
    for remedy in ("start redis first: that fixes it", "run `make db` before", "needs PORT=1"):
        assert is_worth_keeping(fact("error", f"ECONNREFUSED in tests/api.py: {remedy}"), 2)


SECRETS = (
    "The key is sk-ant-api03-abcdefghijklmnop123",
    "Push with ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "AWS uses AKIAIOSFODNN7EXAMPLE",
    "The password is hunter22",
    "export API_KEY=abc123def",
    "Connect to postgres://app:s3cret@db/app",
    "-----BEGIN RSA PRIVATE KEY-----",
)


@pytest.mark.parametrize("content", SECRETS)
def test_no_secret_is_kept(content: str) -> None:
    assert not is_worth_keeping(fact("learning", content, "user"), 9)


def test_what_only_speaks_of_secrets_is_kept() -> None:
    for content in (
        "The password is read from the environment",
        "Token: see docs/auth.md",
        "API_KEY must be set before the tests run",
        "Connect to postgres://localhost:5432/app",
        "risk-based scheduling is off",
    ):
        assert is_worth_keeping(fact("learning", content), 2)

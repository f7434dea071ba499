"""Sentences and rules of typed text in many languages."""

import pytest

from sidecar.core.text.rule_sentences import FIRM, SOFT, rules_in, sureness
from sidecar.core.text.sentences import sentences
from tests.core.rules_said import PLAIN, RULES

FILLER = "The importer reads the rows and writes a line for each. It ran well for a while. "


def said(text: str) -> list[str]:
    return [text[slice(*span)] for span in sentences(text)]


def test_sentences_end_in_any_script() -> None:
    assert said("One. Two! Three? 一。二！三？ एक। दो। هل؟ نعم۔") == [
        "One.", "Two!", "Three?", "一。", "二！", "三？", "एक।", "दो।", "هل؟", "نعم۔",
    ]  # fmt: skip


def test_abbreviations_numbers_and_wrapped_lines_end_no_sentence() -> None:
    wrapped = "Do not touch the files that the generator has written\nbecause the build makes them."
    assert said(wrapped) == [wrapped]
    assert said("Use e.g. the old one. It is at 3.5 now.") == [
        "Use e.g. the old one.", "It is at 3.5 now.",
    ]  # fmt: skip
    assert said("Rules:\n- tabs\n- no spaces\n\nThe end") == [
        "Rules:", "- tabs", "- no spaces", "The end",
    ]  # fmt: skip


def test_a_stretch_without_an_end_is_cut_into_pieces() -> None:
    text = "word " * 500
    pieces = said(text)
    assert all(len(piece) <= 400 for piece in pieces)
    assert " ".join(pieces).split() == text.split()


@pytest.mark.parametrize("language", RULES)
def test_rules_are_known_in_many_languages(language: str) -> None:
    missed = [one for one in RULES[language] if not sureness(one)]
    assert not missed


def test_plain_sentences_are_no_rules() -> None:
    taken = [one for some in PLAIN.values() for one in some if sureness(one)]
    assert not taken


def test_signs_and_lists_of_rules_need_no_words() -> None:
    assert sureness("\u26a0 tabs, two wide") == FIRM
    assert sureness("WE SHIP ON FRIDAY") == FIRM
    assert sureness("The API answers with JSON") == 0
    assert sureness("Ship it!") == 0
    assert sureness("without yaml") == SOFT
    text = "Conventions:\n- two spaces\n- imports sorted\n\nThe file has lines."
    assert [text[slice(*rule.span)] for rule in rules_in(text)] == [
        "- two spaces", "- imports sorted",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("item", "sure"),
    [
        ("The project uses ES modules.", SOFT),
        ("This repository contains three packages.", SOFT),
        ("The project uses tabs, never spaces.", FIRM),
        ("This file is frozen.", FIRM),
        ("Tabs, no spaces.", FIRM),
    ],
)
def test_an_item_of_a_list_of_rules_that_describes_is_no_firm_rule(item: str, sure: int) -> None:
    [rule] = rules_in(f"# Rules\n- {item}")
    assert rule.sure == sure


def test_rows_of_dots_and_many_fences_take_no_time_of_their_own() -> None:
    """Looked at from each dot, or fence by fence for each sentence, these would take hours."""
    text = "." * 300_000 + "x\n" + "```\nmust not\n```\nyes\n" * 20_000 + "Never push."
    assert [text[slice(*rule.span)] for rule in rules_in(text)] == ["Never push."]


@pytest.mark.parametrize(
    "pasted",
    [
        "// BUG: must never happen!", "<!-- never edit this! -->", "/*\n * Must not be null.\n */",
        "    if (!user) { // never null", 'throw new Error("must not be empty");',
        "const only = required(", "raise_error('must not be empty')", "x = 'never'",
        "@@ -1,3 +1,4 @@ def f():\n a\n-  must not\n+  never do it.", "   12\tNever null.",
        " 12→Must not.", "12 | only required", "2026-01-02 10:11:12 must not be null",
        "[ERROR] x must not be null", "10:11:12 INFO only", "⏺ Bash(never)", "  ⎿  must not be",
        "$ only --never", ">>> never", "Assistant: I must never do so.", "at only (a.js:1:2)",
        "import never from 'x'", "#define ONLY never", "def never(x):", "<p>Never null.</p>",
    ],
)  # fmt: skip
def test_code_diffs_margins_logs_and_transcripts_hold_no_rules(pasted: str) -> None:
    text = f"Look at this.\n\n{pasted}\n\nNever push."
    assert [text[slice(*rule.span)] for rule in rules_in(text)] == ["Never push."]


@pytest.mark.parametrize(
    "typed",
    [
        "Never use src/*.py; keep lib/*.py as it is.",
        "MAX = 3 must never change",
        "import only from core, never from ui",
        "1. Never push.",
        "> Never push.",
        "WARNING: never touch the table.",
        "Always call run(x).",
        "- Never `git push`",
        "Use a // b only, never a / b.",
        "If you must: never on Fridays.",
    ],
)
def test_typed_sentences_that_name_code_are_rules(typed: str) -> None:
    assert rules_in(typed)


def test_fenced_code_holds_no_rules_and_each_wording_counts_once() -> None:
    text = "```\nmust not fail\nNever push.\n```\nNever push. Never push."
    assert [text[slice(*rule.span)] for rule in rules_in(text)] == ["Never push."]

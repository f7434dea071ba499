"""Which prompts are commands."""

import re
from pathlib import Path

import pytest

from sidecar.wire.acp.markdown_answers import compaction, fenced, plain
from sidecar.wire.acp.slash_commands import COMMANDS, SlashCommand, command_of


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("/compact", SlashCommand("compact", "")),
        (" /compact keep the\nAPI notes ", SlashCommand("compact", "keep the\nAPI notes")),
        ("/rollback 2 files", SlashCommand("rollback", "2 files")),
        ("/COMPACT", SlashCommand("compact", "")),
        ("/compactor it", SlashCommand("compactor", "it")),
        ("/", SlashCommand("", "")),
        ("/" + "long" * 99, SlashCommand("long" * 99, "")),
        (f"/compact a{' ' * 100_000}b\n", SlashCommand("compact", f"a{' ' * 100_000}b")),
        ("/usr/bin/env is missing", None),
        ("/etc/hosts", None),
        ("/tmp is full", None),
        ("/goal.md says it", None),
        ("please /compact", None),
        ("", None),
    ],
)
def test_a_word_after_the_slash_is_a_command_and_a_path_is_none(
    text: str, command: SlashCommand | None
) -> None:
    assert command_of([{"type": "text", "text": text}]) == command


def test_the_page_has_every_command() -> None:
    page = (Path(__file__).parents[3] / "docs/how-to/acp-editors.md").read_text()
    rows = re.findall(r"^\| `/(\w+)", page, re.MULTILINE)
    assert rows == list(COMMANDS)


def test_other_blocks_are_no_commands() -> None:
    assert command_of([]) is None
    assert command_of([{"type": "image", "data": "/compact"}]) is None


def test_a_fence_is_longer_than_any_in_the_text() -> None:
    assert fenced("plain") == "```\nplain\n```"
    assert fenced("a\n````\nb").splitlines()[0] == "`````"


def test_a_way_to_the_summary_that_failed_is_told() -> None:
    done = {"tokensBefore": 9_000, "tokensAfter": 2_000, "plan": [], "summary": "Done."}
    asked = {"asked": ["server m", "extension m"], "problem": "it was refused"}
    assert "refused" not in compaction({**done, "problem": "it was refused"})
    told = compaction({**done, **asked})
    assert told.endswith("Done.\n\nOn the summary: it was refused.")


def test_somebodys_text_is_no_markdown_and_shows_what_is_unseen() -> None:
    title = "fix \u202egnp.exe [a](http://x) ![](http://y) `z` | \x1b[2J\nmore"
    assert plain(title) == (
        r"fix \\u202egnp.exe \[a\](http://x) \!\[\](http://y) \`z\` \| ␛\[2J more"
    )

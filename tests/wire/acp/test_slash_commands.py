"""Which prompts are commands."""

import pytest

from sidecar.wire.acp.markdown_answers import fenced, told_compaction
from sidecar.wire.acp.slash_commands import SlashCommand, command_of


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("/compact", SlashCommand("compact", "")),
        (" /compact keep the\nAPI notes ", SlashCommand("compact", "keep the\nAPI notes")),
        ("/rollback 2 files", SlashCommand("rollback", "2 files")),
        ("/compactor", None),
        ("/usr/bin/env is missing", None),
        ("please /compact", None),
        ("", None),
    ],
)
def test_only_a_known_name_after_the_slash_is_a_command(
    text: str, command: SlashCommand | None
) -> None:
    assert command_of([{"type": "text", "text": text}]) == command


def test_other_blocks_are_no_commands() -> None:
    assert command_of([]) is None
    assert command_of([{"type": "image", "data": "/compact"}]) is None


def test_a_fence_is_longer_than_any_in_the_text() -> None:
    assert fenced("plain") == "```\nplain\n```"
    assert fenced("a\n````\nb").splitlines()[0] == "`````"


def test_a_way_to_the_summary_that_failed_is_told() -> None:
    done = {"tokensBefore": 9_000, "tokensAfter": 2_000, "plan": [], "summary": "Done."}
    asked = {"asked": ["server m", "extension m"], "problem": "it was refused"}
    assert "refused" not in told_compaction({**done, "problem": "it was refused"})
    told = told_compaction({**done, **asked})
    assert told.endswith("Done.\n\nOn the summary: it was refused.")

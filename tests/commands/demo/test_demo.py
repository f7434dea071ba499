"""`sidecar demo` as people run it, and what it draws."""

import os
import re
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from sidecar_client.messages import (
    AgentMessageChunk,
    CacheState,
    Costs,
    Meter,
    Regions,
    SessionUpdateParams,
)

from sidecar.commands.demo.demo_screen import BAR, REGIONS, Screen, bar, legend
from tests.faults.forked import sidecar

CHAPTERS = (
    "We never rename greet()",
    "context/compact with dryRun",
    "leave out",
    "earned back after",
    "Now in earnest",
    "█ summary",
    "## Goal",
    "context/recall cmp_1",
    "Japanese, to a stranger",
    "context/undoCompaction cmp_1",
    "byte for byte as before",
    "edit README.md, and another line of greeter.py",
    "checkpoint/list",
    "M greeter.py",
    "checkpoint/restore with dryRun",
    "restored  bye.txt     Removed",
    "merged    greeter.py  Undone beside",
    "to edit and send again: replace `world`",
    "Back: checkpoint/restore",
    "merged    greeter.py",
    "exactly what the preview said",
    "# Ask before",
    'print(greet("world"))',
    "checkpoint/redo",
    "restored  bye.txt     Brought back",
    "byte for byte as before it",
    "kill -9",
    "Nothing was lost.",
    "The same would cost:",
)


def play(*arguments: str, columns: int = 80) -> str:
    """Play it to its end, not on a terminal, and give what it printed."""
    done = sidecar("demo", *arguments, env={**os.environ, "COLUMNS": str(columns)}, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("columns", [80, pytest.param(120, marks=pytest.mark.long)])
def test_it_makes_room_recalls_and_takes_back(columns: int) -> None:
    printed = play("--fast", columns=columns)
    rest = printed
    for chapter in CHAPTERS:
        before, found, rest = rest.partition(chapter)
        assert found, f"{chapter} does not come after {before[-200:]}"
    assert max(len(line.rstrip()) for line in printed.splitlines()) <= columns
    meters = [int(used) for used in re.findall(r"[=≈] (\d+) of 8000", printed)]
    *_, full, planned, compacted, undone, _ = meters
    assert full == planned == undone
    assert compacted < 0.6 * full
    assert full > 6_000
    assert "Traceback" not in printed


@pytest.mark.long
def test_a_folder_in_which_nothing_is_worth_leaving_out(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# Small\n", encoding="utf-8")
    printed = play("--workspace", str(tmp_path))
    assert "there is nothing worth leaving out yet" in printed
    assert "Nothing was lost." in printed
    assert [path.name for path in tmp_path.iterdir()] == ["README.md"]


def measured(**tokens: int) -> Meter:
    """Give a meter of these regions in a window of 1,000 tokens with 200 reserved."""
    regions = Regions(**{**dict.fromkeys(REGIONS, 0), **tokens})
    used = sum(tokens.values())
    return Meter(
        session_id="s",
        revision=1,
        window=1000,
        used=used,
        reserved_output=200,
        free=800 - used,
        compact_at=800,
        percent=round(100 * used / 800, 1),
        zone="green",
        accuracy="exact",
        reason="",
        velocity=0,
        spike=False,
        burn_rate=None,
        over_soft_limit=[],
        turns_until_compaction=None,
        regions=regions,
        tools_by_server={},
        cache=CacheState(warm=True, hit_rate=0.5),
        cost=Costs(session=None, last_turn=None, next_request=None, compact_now=None),
    )


@pytest.mark.parametrize(
    ("tokens", "filled"),
    [
        ({}, 0),
        ({"user": 400}, 20),
        (dict.fromkeys(REGIONS, 9), 5),
        ({"summary": 800}, BAR),
        ({"tool_results": 5000, "ledger": 10}, BAR),
    ],
)
def test_the_bar_is_as_long_as_the_room_and_as_full_as_its_regions(
    tokens: dict[str, int], filled: int
) -> None:
    drawn = bar(measured(**tokens), 80).plain
    assert (drawn.count("█"), drawn.count("░")) == (filled, BAR - filled)


def test_the_cache_is_told_where_there_is_room_for_it() -> None:
    meter = measured(user=400)
    assert "cache" not in bar(meter, 80).plain
    assert bar(meter, 120).plain.endswith(", cache warm, 50% read")


def test_every_region_of_the_meter_has_a_colour_of_its_own() -> None:
    assert set(REGIONS) == set(Regions.__struct_fields__)
    assert len(set(REGIONS.values())) == len(REGIONS)


def test_the_legend_names_what_is_there_and_breaks_between_names() -> None:
    lines = [line.plain.rstrip() for line in legend(measured(user=5, tool_results=7).regions, 30)]
    assert lines == ["         █ user 5", "         █ tool results 7"]
    assert legend(measured().regions, 80) == []


def said(columns: int, *pieces: str) -> str:
    """Give what a screen prints when the model says these pieces."""
    printed = StringIO()
    screen = Screen(Console(file=printed, width=columns))
    for piece in pieces:
        update = AgentMessageChunk(content={"type": "text", "text": piece})
        screen.update(SessionUpdateParams(session_id="s", update=update))
    screen.end_line()
    return printed.getvalue()


def test_lines_end_between_words_however_they_come() -> None:
    text = "One two three four five.\n\nSix"
    told = " sidecar One two \n         three \n         four \n         five.\n\n         Six\n"
    for size in (1, 3, len(text)):
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        lines = [line.rstrip() for line in said(17, *pieces).splitlines()]
        assert lines == [line.rstrip() for line in told.splitlines()], size

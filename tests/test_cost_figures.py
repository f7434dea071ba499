"""What the README says it costs stands in the page of the policies, where it was measured."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
MEASURED = ROOT / "sidecar/core/policies/README.md"
WINDOWS = ("200k", "100k", "64k")
POLICIES = {
    "opencode": "opencode",
    "Claude Code": "claude-code",
    "Codex": "codex",
    "Gemini CLI": "gemini",
    "Sidecar": "economic",
}
"""What the README calls a policy, and what the page of the policies does."""


def rows(text: str, heading: str) -> list[list[str]]:
    """Give the cells of a heading's first table, without its rule and marks of emphasis."""
    part = text.split(f"## {heading}", 1)[1]
    table = re.search(r"(?:^\|.*\|\n)+", part, re.M)
    assert table is not None
    lines = table[0].replace("*", "").splitlines()
    return [
        [cell.strip() for cell in line.strip("|").split("|")] for line in lines if "---" not in line
    ]


def measured() -> dict[tuple[str, str], tuple[str, str, str]]:
    """Give cost, share of edits and share of far lines, by policy and window."""
    head, *body = rows(MEASURED.read_text("utf-8"), "What 85 sessions gave")
    assert head[1:] == list(WINDOWS)
    found = {}
    for name, *cells in body:
        for window, cell in zip(WINDOWS, cells, strict=True):
            cost, edits, lines, _ = cell.split(" · ")
            found[name, window] = (cost, edits.split("/")[0], lines)
    return found


def problems(readme: str) -> list[str]:
    """Say of each figure of the README's table that was not measured so."""
    known, wrong = measured(), []
    head, *body = rows(readme, "What it costs")
    assert head[1:] == list(POLICIES)
    *costs, shares = body
    assert [row[0] for row in costs] == list(WINDOWS)
    assert shares[0].endswith(", ".join(WINDOWS))
    for column, (shown, policy) in enumerate(POLICIES.items(), 1):
        for window, row in zip(WINDOWS, costs, strict=True):
            cost, _, lines = known[policy, window]
            if row[column] != f"{cost} ({lines})":
                wrong.append(f"{shown}, {window}: {row[column]}")
        edits = ", ".join(known[policy, window][1] for window in WINDOWS)
        if shares[column] != edits:
            wrong.append(f"{shown}, edits: {shares[column]}")
    return wrong


def test_every_figure_of_the_readme_was_measured() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert problems(readme) == []
    for figure in ("85 recorded sessions", "10,721 requests", "3/15/3.75/0.30 USD"):
        assert figure in readme
    heading = re.search(r"^## What 85 sessions gave \((.+)\)$", MEASURED.read_text("utf-8"), re.M)
    assert heading is not None
    assert heading[1] == "10,721 requests, 3/15/3.75/0.30 USD"


def test_a_figure_that_was_not_measured_is_found() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    known = measured()
    (cost, _, lines), edits = known["economic", "200k"], known["claude-code", "64k"][1]
    changed = readme.replace(f"{cost} ({lines})", f".01 ({lines})").replace(
        f", {edits} |", ", .02 |"
    )
    told = problems(changed)
    assert f"Sidecar, 200k: .01 ({lines})" in told
    assert any(one.startswith("Claude Code, edits: ") and one.endswith(", .02") for one in told)

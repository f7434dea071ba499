"""`sidecar replay --vendor`: one recording under several vendors' prices and rules."""

from pathlib import Path

import pytest

from tests.commands.replay.test_replay_command import printed, refused, run
from tests.replay.log_heavy import log_heavy
from tests.replay.neutral_files import long_recording

pytestmark = pytest.mark.long


def test_each_vendor_has_its_rules_its_cost_and_its_times_of_rewriting(tmp_path: Path) -> None:
    path = long_recording(tmp_path / "one.jsonl")
    names = ("anthropic/claude-opus-4-5", "openai/gpt-5.5", "deepseek", "ollama/qwen3")
    given = [word for name in names for word in ("--vendor", name)]
    found = printed(path, "--window", "64000", *given)
    models = ["anthropic/claude-opus-4-5", "openai/gpt-5.5", "deepseek/deepseek-v4-pro"]
    assert [one["model"] for one in found["vendors"]] == [*models, "ollama/qwen3"]
    claude, openai, _, free = found["vendors"]
    assert [one["rules"]["cachedBy"] for one in found["vendors"]] == ["marks", *["prefix"] * 3]
    assert (claude["rules"]["writesCost"], openai["rules"]["writesCost"]) == (True, False)
    assert openai["rules"]["source"].startswith("OpenAI, ")
    for one in found["vendors"]:
        assert (one["policy"]["policy"], one["carryingOn"]["policy"]) == ("economic", "manual")
        assert len(one["rewrittenBefore"]["one"]) == one["policy"]["rewrites"]
        assert one["carryingOn"]["rewrites"] == 0
    assert free["policy"]["cost"] == free["carryingOn"]["cost"] == 0
    assert "pays" not in free["policy"]["causes"]


def test_the_table_and_the_page_show_when_each_is_rewritten(tmp_path: Path) -> None:
    path, html = long_recording(tmp_path / "one.jsonl"), tmp_path / "page.html"
    done = run(
        path, "--window", "20000", "--vendor", "anthropic", "--vendor", "gemini", "--html", html
    )
    assert done.returncode == 0
    assert "one is rewritten before these requests:" in done.stdout
    assert "  gemini/gemini-3.1-pro-preview: " in done.stdout
    shown = html.read_text("utf-8")
    assert shown.count("<svg") == 2
    assert "<h3>anthropic/claude-opus-5-5</h3>" in shown
    assert "Google, Context caching" in shown


def test_a_vendor_that_is_not_known_is_refused_in_a_line(tmp_path: Path) -> None:
    path = long_recording(tmp_path / "one.jsonl")
    assert "there is no vendor 'nobody'" in refused(2, path, "--vendor", "nobody")
    assert "there is no vendor 'ollama'" in refused(2, path, "--vendor", "ollama")
    told = refused(2, path, "--vendor", "openai/gpt-0")
    assert "the prices of openai/gpt-0 are not known" in told


@pytest.mark.parametrize(
    ("model", "client"),
    [
        ("anthropic/claude-opus-5-5", "claude-code"),
        ("openai/gpt-5.5", "codex"),
        ("openai/gpt-6.1-sol", "codex"),
        ("gemini/gemini-3.1-pro-preview", "gemini"),
        # That vendor has no client of its own.
        ("deepseek/deepseek-v4-pro", "manual"),
    ],
)
def test_a_session_of_many_logs_costs_less_than_by_the_vendors_own_client(
    model: str, client: str, tmp_path: Path
) -> None:
    path = log_heavy(tmp_path / "logs.jsonl")
    ours, theirs = (
        printed(path, "--vendor", model, "--policy", one)["vendors"][0]["policy"]["verbatim"]
        for one in ("economic", client)
    )
    assert ours["costWithRereads"] <= 0.7 * theirs["costWithRereads"]

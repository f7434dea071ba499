"""What is foreseen of each vendor's cache, in sum, held against what was reported."""

import pytest

from sidecar.model.vendor_caches import rules_recorded
from sidecar.replay.compare import Settings, replay_file
from sidecar.replay.validate import foresight
from tests.e2e.recorded import ALL
from tests.replay.recorded import AT_HAND, CARD, SESSIONS, tokenizer

FEW = ("codex-", "mini-swe-", "pi-", "claude-cli-4")
SETTINGS = Settings(("manual",), 1_000_000, CARD, recorded=rules_recorded)


@AT_HAND
@pytest.mark.long
def test_reads_are_foreseen_within_a_twentieth_in_sum() -> None:
    paths = sorted((SESSIONS / "normalised").iterdir())
    chosen = [path for path in paths if ALL or path.name.startswith(FEW)]
    sessions = [replay_file(path, tokenizer(), SETTINGS) for path in chosen if _is_heard(path.name)]
    found = foresight(one.agreement for one in sessions if one.agreement)
    assert [one.vendor for one in found] == ["Anthropic", "DeepSeek", "OpenAI"]
    assert {one.vendor: round(one.off, 3) for one in found if abs(one.off) > 0.05} == {}


def _is_heard(name: str) -> bool:
    return not name.startswith(("copilot-", "opencode-", "swe-agent-"))


@pytest.mark.parametrize(
    ("model", "vendor"),
    [
        ("gpt-5.5", "OpenAI"),
        ("o3-mini", "OpenAI"),
        ("gpt-5.3-codex-spark", "OpenAI"),
        ("openai/gpt-5.6", "OpenAI"),
        ("deepseek-chat", "DeepSeek"),
        ("gemini-2.5-pro", "Google"),
        ("qwen3-coder", "Unknown"),
    ],
)
def test_a_recorded_model_is_cached_by_its_vendor_s_rules(model: str, vendor: str) -> None:
    found = rules_recorded(model)
    assert found is not None
    assert found.vendor == vendor


def test_claude_is_cached_by_the_usual_rules() -> None:
    assert rules_recorded("anthropic/claude-opus-4.8-fast") is None
    assert rules_recorded("") is None

"""Which rules of a cache hold for which provider's models."""

import pytest

from sidecar.config.provider_settings import KINDS, ProviderKind
from sidecar.core.prompt.cache_rules import MARKED
from sidecar.model.catalogue import MODELS, lookup, lookup_at

GPT: tuple[tuple[ProviderKind, str], ...] = (
    ("openai", ""), ("azure", "our-"), ("openrouter", "openai/"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "model", "rules"),
    [
        ("openai", "gpt-4o", ("prefix", 128, 1_024, "evict", 10, False)),
        ("openai", "gpt-5.4-mini", ("prefix", 128, 1_024, "evict", 10, False)),
        ("openai", "o3", ("prefix", 128, 1_024, "evict", 10, False)),
        ("openai", "gpt-5.5", ("prefix", 512, 1_024, "evict", 60, False)),
        ("openai", "gpt-5.6-sol", ("marks", 1, 1_024, "evict", 30, True)),
        ("openai", "gpt-6", ("marks", 1, 1_024, "evict", 30, True)),
        ("azure", "gpt-35-turbo", ("prefix", 128, 1_024, "evict", 10, False)),
        ("azure", "our-gpt-6.1", ("marks", 1, 1_024, "evict", 30, True)),
        ("gemini", "gemini-2.5-flash", ("prefix", 1, 2_048, "unknown", 5, False)),
        ("gemini", "gemini-3.8-flash", ("prefix", 1, 4_096, "unknown", 5, False)),
        ("deepseek", "deepseek-chat", ("prefix", 64, 64, "evict", 120, False)),
        ("openrouter", "openai/gpt-5.6", ("marks", 1, 1_024, "evict", 10, True)),
        ("openrouter", "google/gemini-3.6-flash", ("prefix", 1, 4_096, "unknown", 5, False)),
        ("openrouter", "anthropic/claude-opus-4.5", ("marks", 1, 4_096, "refresh", 5, True)),
        ("openrouter", "someone/else", ("prefix", 1, 1_024, "unknown", 5, False)),
        ("ollama", "qwen3", ("prefix", 1, 0, "evict", 5, False)),
        ("vllm", "qwen3", ("prefix", 16, 0, "evict", 60, False)),
        ("chat", "any", ("prefix", 1, 1_024, "unknown", 5, False)),
    ],
)
def test_each_provider_s_models_have_their_rules(
    kind: ProviderKind, model: str, rules: tuple[object, ...]
) -> None:
    found = lookup_at(model, kind, None).cache
    minutes = found.short // 60_000
    assert rules == (
        found.by, found.granularity, found.minimum, found.life, minutes, found.writes_cost
    )  # fmt: skip


def test_of_openai_alone_breakpoints_are_sent() -> None:
    many = {kind: lookup_at(f"{path}gpt-6", kind, None).cache.marks for kind, path in GPT}
    assert many == {"openai": 4, "azure": 1, "openrouter": 1}


@pytest.mark.parametrize("kind", KINDS)
def test_an_hour_is_sold_and_pings_renew_for_claude_alone(kind: ProviderKind) -> None:
    found = lookup_at("claude-opus-5-5", kind, None).cache
    assert found.source
    ours = kind in ("anthropic", "bedrock", "vertex", "foundry")
    assert (found.long > 0, found.pings_renew) == (ours, ours)


def test_claude_has_four_marks_everywhere_from_its_own_minimum_on() -> None:
    for name in MODELS:
        assert lookup(name).cache == lookup_at(name, "bedrock", None).cache
        found = lookup(name).cache
        assert (found.marks, found.lookback, found.life) == (4, 20, "refresh")
    assert lookup("claude-haiku-4-5-20251001").cache.minimum == 4_096
    assert lookup("offline").cache == MARKED

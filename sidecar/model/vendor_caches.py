"""How vendors cache prompts: rules by provider and model, as documented or measured by 2026-11."""

import re
from collections.abc import Mapping
from dataclasses import replace

from sidecar.config.provider_settings import ProviderKind
from sidecar.core.prompt.cache_rules import MARKED, CacheRules

MINUTE = 60_000
HOUR = 60 * MINUTE

_AUTOMATIC = CacheRules(
    by="prefix",
    marks=0,
    lookback=None,
    granularity=128,
    minimum=1_024,
    life="evict",
    short=10 * MINUTE,
    long=0,
    writes_cost=False,
    pings_renew=False,
    source="OpenAI, Prompt caching: kept for 5 to 10 minutes unused, and at most an hour",
)
OPENAI_5_5 = replace(
    _AUTOMATIC,
    granularity=512,
    short=HOUR,
    source="OpenAI, Prompt caching: up to 24 hours. In recorded sessions of Codex reads came in "
    "steps of 512 tokens, most after pauses of up to 40 minutes, none after more than an hour",
)
OPENAI_BREAKPOINTS = CacheRules(
    lookback=None,
    implicit=True,
    marks_answers=False,
    minimum=1_024,
    life="evict",
    short=30 * MINUTE,
    long=0,
    pings_renew=False,
    source="OpenAI, Prompt caching, from GPT-5.6 on: up to four breakpoints are written, one of "
    "them its own, none in answers, and the newest 80 compared; at least 30 minutes. Whether a "
    "read prolongs that is not documented",
)
OPENAI_IMPLICIT = replace(
    OPENAI_BREAKPOINTS,
    marks=1,
    source=f"{OPENAI_BREAKPOINTS.source}. Its own alone here",
)
GEMINI = replace(
    _AUTOMATIC,
    granularity=1,
    minimum=4_096,
    life="unknown",
    short=5 * MINUTE,
    source="Google, Context caching, 2026-10-13: implicit, without a promise; 2,048 tokens at "
    "least for 2.5, else 4,096. The life is a guess",
)
DEEPSEEK = replace(
    _AUTOMATIC,
    granularity=64,
    minimum=64,
    short=2 * HOUR,
    source="DeepSeek, Context caching: units that end with requests, kept for hours to days. The "
    "64 tokens were measured in recorded sessions",
)
LOADED = replace(
    _AUTOMATIC,
    granularity=1,
    minimum=0,
    short=HOUR,
    source="One's own, a server keeps the last prompt while the model is loaded and nobody else "
    "needs the room; Ollama unloads a model after five minutes unless told otherwise",
)
OTHER = replace(
    _AUTOMATIC,
    granularity=1,
    life="unknown",
    short=5 * MINUTE,
    source="Unknown, most servers read any common prefix",
)
STICKY = 10 * MINUTE
"""OpenRouter asks the same vendor again so long after the last request."""

_GPT = re.compile(r"\bgpt-(\d)(?:\.(\d+))?(?![\d])")
_BY_KIND: Mapping[ProviderKind, CacheRules] = {
    "deepseek": DEEPSEEK,
    "ollama": replace(LOADED, short=5 * MINUTE),
    "llama.cpp": LOADED,
    "vllm": replace(LOADED, granularity=16),
}


def rules_of(kind: ProviderKind, model_id: str) -> CacheRules:
    """Finds the rules for a provider's model, by its own id; not for Claude's minimum."""
    match kind:
        case "openai":
            return _of_gpt(model_id)
        case "azure":
            # Its Chat Completions are asked by an API version without breakpoints.
            found = _of_gpt(model_id)
            return OPENAI_IMPLICIT if found.implicit else found
        case "gemini":
            return replace(GEMINI, minimum=2_048) if "2.5" in model_id else GEMINI
        case "openrouter":
            return _through_openrouter(model_id)
        case "anthropic" | "bedrock" | "vertex" | "foundry":
            return MARKED
        case _:
            return _BY_KIND.get(kind, OTHER)


def rules_recorded(model_id: str) -> CacheRules | None:
    """Finds the rules that held for a recorded model of any vendor; `None` for Claude's."""
    name = model_id.rpartition("/")[2]
    vendors: Mapping[str, ProviderKind] = {"gemini": "gemini", "deepseek": "deepseek"}
    if "claude" in name or not name:
        return None
    if _GPT.search(name) or re.match(r"o\d|codex", name):
        return _of_gpt(name)
    return rules_of(vendors.get(name.partition("-")[0], "chat"), name)


def _of_gpt(model_id: str) -> CacheRules:
    found = _GPT.search(model_id)
    version = (int(found[1]), int(found[2] or 0)) if found else (0, 0)
    if version == (5, 5):
        return OPENAI_5_5
    return OPENAI_BREAKPOINTS if version > (5, 5) else _AUTOMATIC


def _through_openrouter(model_id: str) -> CacheRules:
    vendor, _, name = model_id.lstrip("~").partition("/")
    kinds: Mapping[str, ProviderKind] = {
        "anthropic": "anthropic",
        "openai": "azure",
        "google": "gemini",
        "deepseek": "deepseek",
    }
    own = rules_of(kinds.get(vendor, "chat"), name)
    source = f"{own.source}; OpenRouter asks the same vendor for 10 minutes"
    # An hour is not for sale: what was paid may stand with another vendor than the next request.
    return replace(own, short=min(own.short, STICKY), long=0, pings_renew=False, source=source)

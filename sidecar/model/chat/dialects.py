"""How servers of Chat Completions differ, as data."""

from typing import Final, Literal, TypeAlias

from sidecar.core.dataclass import dataclass

LONG = 5.0
"""Times the usual silence: ten minutes."""
ReturnedAs: TypeAlias = Literal["", "reasoning_content", "reasoning", "reasoning_details"]


@dataclass(frozen=True, slots=True)
class Dialect:
    """One provider's way.

    `most`: the field for an answer's most tokens. `thinking`: fields of deltas, of which the first
    with a text counts; `returned`: the field in which thinking goes back, `always` even without
    any. `cached`: path to the cached tokens in `usage`. `effort`: `reasoning` is an object.
    `marked`: how ids of models that take cache marks begin. `keyed`: takes `prompt_cache_key` and
    `store`. `api_version`: Azure's, with its client. `silent`: how many times the usual silence is
    no stall, as hidden thinking and prompts read on small machines give no sign of life.
    """

    name: str
    base_url: str
    most: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    told_usage: bool = True
    thinking: tuple[str, ...] = ("reasoning_content", "reasoning")
    returned: ReturnedAs = ""
    always: bool = False
    cached: tuple[str, ...] = ("prompt_tokens_details", "cached_tokens")
    effort: Literal["reasoning_effort", "reasoning"] = "reasoning_effort"
    marked: str = ""
    keyed: bool = False
    parallel: bool = True
    images: bool = True
    documents: bool = False
    api_version: str = ""
    silent: float = 1.0


DIALECTS: Final[dict[str, Dialect]] = {
    dialect.name: dialect
    for dialect in (
        Dialect(
            "openai",
            "https://api.openai.com/v1",
            most="max_completion_tokens",
            keyed=True,
            documents=True,
            silent=LONG,
        ),
        Dialect(
            "azure",
            "",
            most="max_completion_tokens",
            api_version="2024-10-21",
            silent=LONG,
        ),
        Dialect(
            "openrouter",
            "https://openrouter.ai/api/v1",
            thinking=("reasoning", "reasoning_content"),
            returned="reasoning_details",
            effort="reasoning",
            marked="anthropic/",
            documents=True,
        ),
        Dialect(
            "deepseek",
            "https://api.deepseek.com",
            returned="reasoning_content",
            # Thinking models refuse earlier answers without the field.
            always=True,
            cached=("prompt_cache_hit_tokens",),
            parallel=False,
            images=False,
        ),
        Dialect(
            "ollama",
            "http://127.0.0.1:11434/v1",
            thinking=("reasoning", "reasoning_content"),
            returned="reasoning",
            parallel=False,
            silent=LONG,
        ),
        Dialect(
            "llama.cpp",
            "http://127.0.0.1:8080/v1",
            returned="reasoning_content",
            silent=LONG,
        ),
        Dialect(
            "vllm",
            "http://127.0.0.1:8000/v1",
            # The newer name first; versions for a while send both.
            thinking=("reasoning", "reasoning_content"),
            returned="reasoning",
            silent=LONG,
        ),
        # Any other server, of which nothing is known.
        Dialect("chat", "", parallel=False, silent=LONG),
    )
}

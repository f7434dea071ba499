"""Provider, address and key of a model."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A provider's endpoint; `name` is anthropic, bedrock, vertex or foundry.

    With `base_url`, anthropic means a proxy or local server (Ollama, llama.cpp, LM Studio, vLLM).
    For anthropic the SDK reads neither key nor address from the environment; clouds take
    credentials and region from theirs.
    """

    name: str = "anthropic"
    base_url: str = ""
    api_key: str = field(default="", repr=False)

    @property
    def hosted(self) -> bool:
        """Whether the endpoint is the provider's own API."""
        return not self.base_url

"""Provider, address and key of a model."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A provider's endpoint; `name` is anthropic, bedrock, vertex or foundry.

    With `base_url`, anthropic means a proxy or local server (Ollama, llama.cpp, LM Studio, vLLM).
    The SDK reads neither anthropic's key nor address from the environment, but clouds' credentials
    and region.
    """

    name: str = "anthropic"
    base_url: str = ""
    api_key: str = field(default="", repr=False)

    @property
    def hosted(self) -> bool:
        return not self.base_url

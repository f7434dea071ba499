"""Where the model is: the provider, its address and the key."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A provider's endpoint. The SDK reads neither key nor address from the environment.

    `name` is anthropic, bedrock, vertex or foundry. With a `base_url`, anthropic reaches a proxy
    or a local server (Ollama, llama.cpp, LM Studio, vLLM). The key is never shown.
    """

    name: str = "anthropic"
    base_url: str = ""
    api_key: str = field(default="", repr=False)

    @property
    def hosted(self) -> bool:
        """Whether this is the provider's own API, with all that it knows beyond local servers."""
        return not self.base_url

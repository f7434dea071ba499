"""Provider, address and key of a model."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A provider; `name`: anthropic, bedrock, vertex or foundry.

    With `base_url`, anthropic means a proxy or local server (as Ollama, vLLM). The SDK itself reads
    only clouds' credentials and region. `shared`: this process's environment is not the window's.
    """

    name: str = "anthropic"
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    shared: bool = False

    @property
    def hosted(self) -> bool:
        return not self.base_url

    @property
    def ambient(self) -> bool:
        """Whether the account is looked for in the process's variables."""
        keyed = self.name == "foundry" and self.api_key and self.base_url
        return self.name != "anthropic" and not keyed

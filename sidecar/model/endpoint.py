"""Provider, address and key of a model."""

import importlib
from dataclasses import field

from sidecar.config.provider_settings import FROM_KEYRING
from sidecar.core.dataclass import dataclass
from sidecar.core.errors import ModelFailed
from sidecar.extras import adding


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
        """Whether to look for the account in the process's variables."""
        keyed = self.name == "foundry" and self.api_key and self.base_url
        return self.name in ("bedrock", "vertex", "foundry") and not keyed


def key_of(told: str) -> str:
    """Looks up `keyring:SERVICE` or `keyring:SERVICE/USER`; gives other keys back.

    Blocks. Raises ModelFailed if the keyring has none or cannot be asked.
    """
    if not told.startswith(FROM_KEYRING):
        return told
    service, _, user = told.removeprefix(FROM_KEYRING).partition("/")
    try:
        keyring = importlib.import_module("keyring")
        found = keyring.get_credential(service, user or None)
    except ImportError:
        text = f"the keyring needs a package: `{adding('keyring')}`"
        raise ModelFailed(text, kind="authentication") from None
    except Exception as error:  # noqa: BLE001 - backends fail in their own ways
        text = f"the keyring cannot be asked for {service}: {error}"
        raise ModelFailed(text, kind="authentication") from None
    if found is None or not found.password:
        advice = f"add one, as by `keyring set {service} {user or 'sidecar'}`"
        raise ModelFailed(f"the keyring has no key for {service}: {advice}", kind="authentication")
    return str(found.password)

"""Models to choose from: each kind of provider's usual ones, and their needs."""

import os
from collections.abc import Iterator, Mapping
from importlib.util import find_spec

from sidecar.config import Config
from sidecar.config.provider_settings import KINDS, LOCAL, VARIABLES, NamedProvider, ProviderKind
from sidecar.extras import adding
from sidecar.model.catalogue import KNOWN

_NEWEST = ("claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5")
_USUAL: Mapping[ProviderKind, tuple[str, ...]] = {
    "openai": ("gpt-6.1-sol", "gpt-6.1-terra", "gpt-6-astra", "gpt-6-luna", "gpt-5.5"),
    "gemini": ("gemini-3.8-flash", "gemini-3.1-pro-preview", "gemini-3.5-flash-lite"),
    "deepseek": ("deepseek-v4-pro", "deepseek-v4-flash"),
    "bedrock": tuple(f"global.anthropic.{name}" for name in _NEWEST),
    "vertex": _NEWEST,
}
"""By `genai-prices` 0.2.3; any other id can be named, too."""
_PACKAGES: Mapping[ProviderKind, tuple[str, str]] = {
    "bedrock": ("boto3", "bedrock"),
    "vertex": ("google.auth", "vertex"),
    "gemini": ("google.genai", "gemini"),
}
_NEEDED: Mapping[ProviderKind, tuple[str, ...]] = {
    "vertex": ("CLOUD_ML_REGION", "ANTHROPIC_VERTEX_PROJECT_ID"),
}
"""Variables without which the SDK refuses."""


def every(config: Config) -> Iterator[tuple[str, str]]:
    """Yields all suggested ids, each with what its use lacks."""
    usual = config.provider
    keyless = usual.name == "anthropic" and not (usual.api_key or usual.base_url)
    for name in KNOWN:
        yield name, "set ANTHROPIC_API_KEY" if keyless and name != "offline" else ""
    named = {one.kind for one in config.providers}
    unset = (NamedProvider(kind, kind) for kind in KINDS if kind not in named)
    for one in (*config.providers, *unset):
        for name in _USUAL.get(one.kind, ()):
            yield f"{one.name}/{name}", missing(one)


def missing(one: NamedProvider, *, how: bool = False) -> str:
    """Says what a provider lacks, with the line that adds a package if asked how; "" if usable."""
    names = VARIABLES.get(one.kind, ())
    if not one.api_key and names and one.kind not in LOCAL:
        return f"set {names[0]}"
    unset = [name for name in _NEEDED.get(one.kind, ()) if not os.environ.get(name)]
    if unset:
        return f"set {unset[0]}"
    if one.kind in ("anthropic", "foundry"):
        return ""
    package, extra = _PACKAGES.get(one.kind, ("openai", "openai"))
    if _is_installed(package):
        return ""
    return f"install the extra `{extra}`" + (f": {adding(extra)}" if how else "")


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        return False

"""Providers by name: `name = {kind, base_url, api_key}`, and those that need no settings."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from typing import Literal, TypeAlias, get_args

from sidecar.core.dataclass import dataclass

ProviderKind: TypeAlias = Literal[
    "anthropic", "bedrock", "vertex", "foundry", "openai", "gemini",
    "openrouter", "deepseek", "azure", "ollama", "llama.cpp", "vllm", "chat",
]  # fmt: skip
"""A provider's API and its habits; `chat`: any server with Chat Completions."""
KINDS: tuple[ProviderKind, ...] = get_args(ProviderKind)
USUAL = "anthropic"
"""Models without a provider's name are of this one, as `anthropic/claude-opus-5-5` is."""
FROM_VARIABLE, FROM_KEYRING = "env:", "keyring:"
VARIABLES: Mapping[str, tuple[str, ...]] = {
    "openai": ("OPENAI_API_KEY",),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "openrouter": ("OPENROUTER_API_KEY",),
    "deepseek": ("DEEPSEEK_API_KEY",),
    "azure": ("AZURE_OPENAI_API_KEY",),
}
LOCAL: frozenset[ProviderKind] = frozenset({"ollama", "llama.cpp", "vllm"})
"""Servers of one's own, which need no key and cost nothing."""


@dataclass(frozen=True, slots=True)
class NamedProvider:
    """A provider whose models are called `name/model`.

    `api_key`: the key itself, `env:VARIABLE` or `keyring:SERVICE`. `base_url`: empty for the
    kind's own address.
    """

    name: str
    kind: ProviderKind
    base_url: str = ""
    api_key: str = field(default="", repr=False)


def read_providers(value: object) -> tuple[NamedProvider, ...]:
    if not isinstance(value, Mapping):
        raise ValueError('must be a table, such as {work = {kind = "openai"}}.')  # noqa: TRY004 - as readers do
    return tuple(_provider(str(name), table) for name, table in value.items())


def _provider(name: str, table: object) -> NamedProvider:
    if not isinstance(table, Mapping) or not all(isinstance(v, str) for v in table.values()):
        raise ValueError(f"{name} must be a table of texts: kind, base_url, api_key.")
    if not name or "/" in name or name.isspace():
        raise ValueError("a provider's name must have letters, and no slash.")
    aliases = {"baseUrl": "base_url", "apiKey": "api_key"}
    given: dict[str, str] = {aliases.get(str(key), str(key)): v for key, v in table.items()}
    unknown = sorted(set(given) - {"kind", "base_url", "api_key"})
    if unknown:
        raise ValueError(f"{name} has kind, base_url and api_key, not {', '.join(unknown)}.")
    kind = given.get("kind", name)
    if kind not in KINDS:
        raise ValueError(f"{name}.kind must be one of {', '.join(KINDS)}.")
    address = given.get("base_url", "").rstrip("/")
    if address and not address.startswith(("http://", "https://")):
        raise ValueError(f"{name}.base_url must begin with http:// or https://.")
    return NamedProvider(name, kind, address, given.get("api_key", "").strip())


def provider_of(model: str, providers: Iterable[NamedProvider]) -> NamedProvider | None:
    """Returns the provider that a model's name begins with, `None` for the usual one."""
    name, slash, _ = model.partition("/")
    if not slash or name == USUAL:
        return None
    kinds = (NamedProvider(kind, kind) for kind in KINDS)
    return next((one for one in (*providers, *kinds) if one.name == name), None)


def keeps_providers(model: str, own: str, providers: Iterable[NamedProvider]) -> bool:
    """Whether a file may name `model`: one of the provider of the user's `own` model."""
    told = tuple(providers)
    return provider_of(model, told) == provider_of(own, told)


def with_keys(
    told: tuple[NamedProvider, ...], variables: Mapping[str, str]
) -> tuple[NamedProvider, ...]:
    """Adds keys out of variables, and providers known by their variable alone.

    A keyring's key is looked up at first use.
    """
    usual = tuple(_usual(variables))
    named = {one.name for one in told}
    every = (*told, *(one for one in usual if one.name not in named))
    return tuple(_with_key(one, variables) for one in every)


def _usual(variables: Mapping[str, str]) -> Iterator[NamedProvider]:
    for kind in KINDS:
        if kind in LOCAL or any(variables.get(name) for name in VARIABLES.get(kind, ())):
            yield NamedProvider(kind, kind)


def _with_key(one: NamedProvider, variables: Mapping[str, str]) -> NamedProvider:
    key, names = one.api_key, VARIABLES.get(one.kind, ())
    if key.startswith(FROM_VARIABLE):
        names, key = (key.removeprefix(FROM_VARIABLE).strip(),), ""
    found = (variables.get(name, "") for name in names)
    return replace(one, api_key=key or next(filter(None, found), ""))

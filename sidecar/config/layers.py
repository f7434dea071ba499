"""Merges layers of settings; unusable values change nothing."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from difflib import get_close_matches
from typing import Literal, TypeAlias

from sidecar.config.provider_settings import keeps_providers
from sidecar.config.readers import kind_of
from sidecar.config.settings import SETTINGS, TABLES, Config, default_model
from sidecar.config.toml_lines import line_of
from sidecar.core.dataclass import dataclass
from sidecar.core.text.visible import clipped, visible

LayerKind: TypeAlias = Literal["user", "workspace", "environment", "client"]
"""The owner of a layer's settings."""
MOST_PATH = 100
MOST_MESSAGE = 500
"""Characters of a problem; longer ones are cut."""


@dataclass(frozen=True, slots=True)
class Layer:
    """A source of settings; `restricted`: without `own` settings, as from a workspace.

    `names`: environment variables by key; `text`: the file's.
    """

    name: str
    values: Mapping[str, object]
    restricted: bool = False
    kind: LayerKind = "user"
    names: Mapping[str, str] = field(default_factory=dict)
    text: str = ""


@dataclass(frozen=True, slots=True)
class Origin:
    """The layer of a value, and its key there."""

    layer: Layer
    path: str

    def __str__(self) -> str:
        match self.layer.kind:
            case "environment":
                return self.layer.names.get(self.path, self.layer.name)
            case "client":
                return f"{self.layer.name}.{self.path}"
            case "user" | "workspace":
                line = line_of(self.layer.text, self.path)
                return self.layer.name if line is None else f"{self.layer.name}:{line}"


@dataclass(frozen=True, slots=True)
class Problem:
    """An ignored setting; `theirs` if from a workspace.

    `unknown`: no such key, or a rule hits nothing (and is kept); otherwise the value is wrong.
    `rules`: it may be meant for `permissions`.
    """

    where: str
    path: str
    message: str
    unknown: bool = False
    text: str = field(default="", repr=False, compare=False)
    theirs: bool = False
    rules: bool = False

    @property
    def hides_rules(self) -> bool:
        """Whether rejecting rules of the user's may be among what cannot be used."""
        unread = snake(self.path) in ("", "permissions", "permissions.reject")
        return not self.theirs and (self.rules if self.unknown else unread)

    def __str__(self) -> str:
        line = line_of(self.text, self.path)
        where = self.where if line is None else f"{self.where}:{line}"
        return ": ".join(filter(None, (where, self.path, self.message)))


@dataclass(frozen=True, slots=True)
class Resolved:
    """The merged configuration; `origins` by setting, weakest first.

    Joined lists have several origins.
    """

    config: Config
    origins: Mapping[str, tuple[Origin, ...]]
    problems: tuple[Problem, ...]


def merge(layers: Iterable[Layer]) -> tuple[Config, tuple[Problem, ...]]:
    resolved = resolve(layers)
    return resolved.config, resolved.problems


def resolve(layers: Iterable[Layer]) -> Resolved:
    """Merges layers, weakest first; lists with `adds_up` are joined."""
    told = tuple(layers)
    own, _, _ = _chosen((layer for layer in told if not layer.restricted), {})
    chosen, origins, problems = _chosen(told, own)
    tables = {name: kind(**_table(name, chosen)) for name, kind in TABLES.items()}
    plain = {key: value for key, value in chosen.items() if "." not in key}
    provider = tables["provider"]
    plain.setdefault("model", default_model(bool(provider.api_key or provider.base_url)))
    config = Config(**tables, **plain)  # type: ignore[arg-type] # each is read by its reader
    return Resolved(config, origins, problems)


def _chosen(
    layers: Iterable[Layer], own: Mapping[str, object]
) -> tuple[dict[str, object], dict[str, tuple[Origin, ...]], tuple[Problem, ...]]:
    """Returns values, their origins and problems; `own`: what the user's layers choose."""
    chosen: dict[str, object] = {}
    origins: dict[str, tuple[Origin, ...]] = {}
    problems = [
        _choose(layer, given, chosen, origins, own)
        for layer in layers
        for given in _flat(layer.values)
    ]
    return chosen, origins, tuple(filter(None, problems))


@dataclass(frozen=True, slots=True)
class _Given:
    path: str
    name: str
    value: object


def _flat(values: Mapping[str, object]) -> Iterator[_Given]:
    for key, value in values.items():
        name = snake(key)
        if name in TABLES and isinstance(value, Mapping):
            inner = _rules(value) if name == "permissions" else value
            for part, each in inner.items():
                if each is not None:
                    yield _Given(f"{key}.{part}", f"{name}.{snake(part)}", each)
        elif value is not None:
            yield _Given(key, name, value)


def _rules(table: Mapping[str, object]) -> dict[str, object]:
    lists = {key: value for key, value in table.items() if value not in ("allow", "reject")}
    for verdict in ("allow", "reject"):
        named = [key for key, value in table.items() if value == verdict]
        listed = lists.get(verdict, [])
        if named and isinstance(listed, list):
            lists[verdict] = [*listed, *named]
    return lists


def _choose(
    layer: Layer,
    given: _Given,
    chosen: dict[str, object],
    origins: dict[str, tuple[Origin, ...]],
    own: Mapping[str, object],
) -> Problem | None:
    def problem(message: str, *, unknown: bool = False, rules: bool = False) -> Problem:
        # Keys and values of any length reach an editor's dialog.
        told = clipped(visible(given.path), MOST_PATH), clipped(visible(message), MOST_MESSAGE)
        return Problem(layer.name, *told, unknown, layer.text, layer.restricted, rules)

    if given.name in TABLES:
        return problem(f"must be a table, not {kind_of(given.value)}.")
    setting = SETTINGS.get(given.name)
    if setting is None:
        return problem(_unknown(given), unknown=True, rules=_means_rules(given))
    if layer.restricted and setting.own:
        return problem("a workspace may not set this. Set it in your own configuration file.")
    try:
        reader = setting.theirs if layer.restricted else setting.reader
        value = reader.read(given.value)
    except OverflowError:
        return problem("has a number that is too large.")
    except ValueError as error:
        return problem(str(error))
    names_model = given.name in ("model", "summary_model")
    if layer.restricted and names_model and not _keeps_providers(str(value), own):
        return problem(
            "a workspace may not choose the provider. Set it in your own configuration file."
        )
    origin = Origin(layer, given.path)
    read, before = value, chosen.get(given.name)
    if setting.adds_up and isinstance(before, tuple) and isinstance(value, tuple):
        value = tuple(dict.fromkeys((*before, *value)))
        origins[given.name] = (*origins[given.name], origin)
    else:
        origins[given.name] = (origin,)
    chosen[given.name] = value
    doubt = reader.doubt(read)
    return problem(doubt, unknown=True) if doubt else None


def _keeps_providers(model: str, own: Mapping[str, object]) -> bool:
    users, providers = own.get("model", ""), own.get("providers", ())
    assert isinstance(users, str)
    assert isinstance(providers, tuple)
    return keeps_providers(model, users, providers)


def _means_rules(given: _Given) -> bool:
    if ":" in given.name and given.value in ("allow", "reject", "deny", "ask"):
        return True
    inner = map(snake, given.value) if isinstance(given.value, Mapping) else ()
    names = (*given.name.split("."), *inner)
    return any(get_close_matches(one, ("permissions", "reject"), cutoff=0.8) for one in names)


def _unknown(given: _Given) -> str:
    if given.name.startswith("permissions.") and given.value == "ask":
        return 'is asked about only where no rule allows it: "ask" limits no wider rule.'
    if given.name == "permissions.deny" or given.value == "deny":
        return "is no rule: those that reject stand in `reject`, or have the value `reject`."
    in_camel = given.path != given.name
    near = get_close_matches(given.name, (*SETTINGS, *TABLES), n=1, cutoff=0.7)
    if not near:
        return "is not a setting."
    return f"is not a setting. Did you mean `{camel(near[0]) if in_camel else near[0]}`?"


def _table(name: str, chosen: Mapping[str, object]) -> dict[str, object]:
    prefix = f"{name}."
    return {k.removeprefix(prefix): v for k, v in chosen.items() if k.startswith(prefix)}


def snake(key: str) -> str:
    return re.sub(r"(?<=[a-z0-9])[A-Z]", lambda found: f"_{found[0]}", key).lower()


def camel(name: str) -> str:
    return re.sub(r"_([a-z])", lambda found: found[1].upper(), name)

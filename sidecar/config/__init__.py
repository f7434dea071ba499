"""The configuration: one frozen value, merged once from defaults, files, environment and client.

Later layers go before earlier ones: defaults < user file < workspace file (only if the workspace
is trusted) < environment < what the client gave with `initialize`. Files are TOML and name
settings with underscores, as here; clients write them in camel case; either is understood.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path

import platformdirs

from sidecar.config.alerts import Alerts
from sidecar.config.mcp import McpServer
from sidecar.config.readers import NO_KEY, READERS, LogLevel, Secret, kind_of
from sidecar.config.telemetry import Telemetry
from sidecar.core.errors import BadRequest
from sidecar.core.preserve import Preserve

OPTIONS = "initializationOptions"
OFFLINE_MODEL = "offline"
DEFAULT_MODEL = "claude-opus-5-5"


@dataclass(frozen=True, slots=True)
class Provider:
    """Who answers. `base_url` reaches a proxy or a local server; empty is the provider's own."""

    name: str = "anthropic"
    base_url: str = ""
    api_key: Secret = NO_KEY


@dataclass(frozen=True, slots=True)
class Permissions:
    """Rules for calls that would be asked about; `tools/permission.py` says how they are written.

    As a setting: `{allow = [rules], reject = [rules]}`.
    """

    allow: tuple[str, ...] = ()
    reject: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Delegate:
    """What one subtask may take: model calls, tokens in all its requests and answers, USD.

    `None` is as many as its steps need. What is nearly used up leaves it one step for its report.
    """

    steps: int = 50
    tokens: int | None = None
    cost: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Retry:
    """How often a model call is tried in all, and the longest wait between tries."""

    attempts: int = 3
    cap_ms: int = 30_000


@dataclass(frozen=True, slots=True)
class SnapshotSizes:
    """What snapshots of a workspace may take, in MiB.

    `file`, and `tracked_file` where git tracks it, is how large a file may be to be restorable;
    `step` is what one snapshot may read anew; `workspace` what is stored of a folder, compressed.
    """

    file_mib: int = 2
    tracked_file_mib: int = 16
    step_mib: int = 64
    workspace_mib: int = 1024


def default_model(has_key: bool) -> str:
    """Give the model for who chose none: without a key or a server only the offline one works."""
    return DEFAULT_MODEL if has_key else OFFLINE_MODEL


def default_data_dir() -> Path:
    """Give the folder where sessions are stored unless configured otherwise."""
    return Path(platformdirs.user_data_dir("sidecar", appauthor=False))


def user_file() -> Path:
    """Give the path of the user's configuration file, whether or not it exists."""
    return Path(platformdirs.user_config_dir("sidecar", appauthor=False)) / "config.toml"


@dataclass(frozen=True, slots=True)
class Config:
    """All settings. A session may be opened with another model, agent, policy, window or limit."""

    model: str = OFFLINE_MODEL
    """The model that answers, by the provider's id; `offline` needs neither key nor network."""
    policy: str = "economic"
    """The name of the rules by which the context is made smaller."""
    agent: str = ""
    """The name of the agent whose prompt is used; empty is the built-in one."""
    effort: str = ""
    """How hard the model should think, in the provider's own word; empty leaves it to the model."""
    window: int | None = None
    """Tokens of context to use at most; never more than the model's own window."""
    max_tokens: int | None = None
    """Tokens that one answer may have; `None` leaves it to the model's catalogue entry."""
    max_steps: int = 200
    """Model calls in one turn, after which it ends with `max_turn_requests`."""
    auto_compact: bool = True
    """Whether the policy may rewrite the context by itself."""
    auto_continue: bool = True
    """Whether a turn goes on by itself after a compaction in its middle."""
    summaries: bool = True
    """Whether a model may be asked for summaries; else they are made of the log's own words."""
    summary_model: str = ""
    """A cheaper model for summaries, asked where that costs less than asking the session's own."""
    idle_compaction: bool = True
    """Whether a rewrite that is about to be needed may be made while the user is idle."""
    keep_alive: bool = False
    """Whether the cached prefix is kept alive through pauses, where that pays."""
    instructions: bool = True
    """Whether AGENTS.md and CLAUDE.md are read."""
    learned: bool = True
    """Whether what is worth knowing in later sessions is kept in `.sidecar/learned`, and read."""
    provider: Provider = field(default_factory=Provider)
    """Who answers, and with which key."""
    retry: Retry = field(default_factory=Retry)
    """How failed model calls are tried again."""
    delegate: Delegate = field(default_factory=Delegate)
    """What a subtask may take that the model hands to a child session."""
    snapshots: SnapshotSizes = field(default_factory=SnapshotSizes)
    """How large files may be to be restorable, and what a folder's snapshots may take."""
    alerts: Alerts = field(default_factory=Alerts)
    """When people are warned."""
    telemetry: Telemetry = field(default_factory=Telemetry)
    """Where metrics and traces go."""
    permissions: Permissions = field(default_factory=Permissions)
    """What need not be asked, and what is never done."""
    preserve: Mapping[str, Preserve] = field(default_factory=dict)
    """What no rewrite of the context may touch, by agent; `*` holds for all of them."""
    mcp_servers: tuple[McpServer, ...] = ()
    """MCP servers for every session, by name: `{command, args, env}` or `{url, headers}`."""
    workspace_trusted: bool | None = None
    """Whether the workspace may run things, be changed, and configure the agent; `None`: ask."""
    data_dir: Path = field(default_factory=default_data_dir)
    """The folder where sessions are stored."""
    log: LogLevel = "info"
    """How much is written to stderr."""


@dataclass(frozen=True, slots=True)
class Layer:
    """Settings from one place. `name` says where they come from, for errors.

    `restricted`: they belong to the workspace and may not give themselves more power.
    """

    name: str
    values: Mapping[str, object]
    restricted: bool = False


@dataclass(frozen=True, slots=True)
class Problem:
    """A setting that was passed over. `path` is its key, dotted, in the layer `where`.

    `unknown`: the key is none of ours. Otherwise its value is wrong.
    """

    where: str
    path: str
    message: str
    unknown: bool = False

    def __str__(self) -> str:
        return f"{self.where}: {self.path}: {self.message}"


def merge(layers: Iterable[Layer]) -> tuple[Config, tuple[Problem, ...]]:
    """Merge layers, the weakest first. A setting that cannot be used is left as it was.

    Permissions add up. Without a chosen model, the default depends on whether there is a key or
    a server to ask.
    """
    chosen: dict[str, object] = {}
    problems: list[Problem] = []
    for layer in layers:
        for setting in _flat(layer.values):
            problem = _choose(layer, setting, chosen)
            if problem:
                problems.append(problem)
    provider = Provider(**_table("provider", chosen))  # type: ignore[arg-type] # read by READERS
    retry = Retry(**_table("retry", chosen))  # type: ignore[arg-type] # read by READERS
    delegate = Delegate(**_table("delegate", chosen))  # type: ignore[arg-type] # read by READERS
    sizes = SnapshotSizes(**_table("snapshots", chosen))  # type: ignore[arg-type] # same
    permissions = Permissions(**_table("permissions", chosen))  # type: ignore[arg-type] # same
    plain = {key: value for key, value in chosen.items() if "." not in key}
    plain.setdefault("model", default_model(bool(provider.api_key or provider.base_url)))
    tables: dict[str, object] = {
        "provider": provider,
        "retry": retry,
        "delegate": delegate,
        "snapshots": sizes,
    }
    tables |= {
        "alerts": Alerts(**_table("alerts", chosen)),  # type: ignore[arg-type] # same
        "telemetry": Telemetry(**_table("telemetry", chosen)),  # type: ignore[arg-type] # same
    }
    config = Config(permissions=permissions, **tables, **plain)  # type: ignore[arg-type] # same
    return config, tuple(problems)


def load(
    *,
    workspace: Path | None,
    environment: Mapping[str, str],
    options: Mapping[str, object],
    user: Path | None = None,
) -> tuple[Config, tuple[Problem, ...]]:
    """Read the files and merge everything; `user` is another user file than the usual one.

    Blocks. Problems in files and environment, and unknown options, are given back to be shown.

    Raises:
        BadRequest: when an option that the client gave has a wrong value.
    """
    unread: list[Problem] = []
    usual = _read(user or user_file(), unread)
    told = [usual, environment_layer(environment), *options_layers(options)]
    if workspace is not None and merge(told)[0].workspace_trusted:
        told.insert(1, _read(workspace / ".sidecar/config.toml", unread, restricted=True))
    config, problems = merge(told)
    for problem in problems:
        if problem.where == OPTIONS and not problem.unknown:
            raise BadRequest(
                f"{OPTIONS}.{problem.path}: {problem.message}", f"params.{OPTIONS}.{problem.path}"
            )
    return config, (*unread, *problems)


def environment_layer(environment: Mapping[str, str]) -> Layer:
    """Give what environment variables set; empty ones set nothing."""
    found = {key: environment.get(name) or None for name, key in _VARIABLES.items()}
    provider = {key: environment.get(name) or None for name, key in _PROVIDER.items()}
    return Layer("environment", {**found, "provider": provider})


def options_layers(options: Mapping[str, object]) -> tuple[Layer, ...]:
    """Give what the client set. Its `config` object holds settings too, under those beside it."""
    nested = options.get("config")
    direct = {key: value for key, value in options.items() if key != "config"}
    inner = nested if isinstance(nested, Mapping) else {"config": nested}
    return (Layer(OPTIONS, inner), Layer(OPTIONS, direct))


@dataclass(frozen=True, slots=True)
class _Setting:
    """A setting as it was written, `path` dotted, and its name as we know it."""

    path: str
    name: str
    value: object


def _flat(values: Mapping[str, object]) -> Iterable[_Setting]:
    """Take tables apart, one level deep; a null sets nothing."""
    for key, value in values.items():
        name = _snake(key)
        if name in _TABLES and isinstance(value, Mapping):
            inner = _rules(value) if name == "permissions" else value
            for part, each in inner.items():
                if each is not None:
                    yield _Setting(f"{key}.{part}", f"{name}.{_snake(part)}", each)
        elif value is not None:
            yield _Setting(key, name, value)


def _rules(table: Mapping[str, object]) -> dict[str, object]:
    """Understand `{shell = "allow", edit_file = "reject"}` too, as other agents write it."""
    lists = {key: value for key, value in table.items() if value not in ("allow", "reject", "ask")}
    for verdict in ("allow", "reject"):
        named = [key for key, value in table.items() if value == verdict]
        listed = lists.get(verdict, [])
        if named and isinstance(listed, list):
            lists[verdict] = [*listed, *named]
    return lists


def _choose(layer: Layer, setting: _Setting, chosen: dict[str, object]) -> Problem | None:
    name = setting.name
    if name in _TABLES:
        return Problem(layer.name, setting.path, f"must be a table, not {kind_of(setting.value)}.")
    reader = READERS.get(name)
    if reader is None:
        return Problem(layer.name, setting.path, _unknown(setting), unknown=True)
    if layer.restricted and (name in _OWN or name.startswith(_OWN_TABLES)):
        message = "a workspace may not set this. Set it in your own configuration file."
        return Problem(layer.name, setting.path, message)
    try:
        value = reader(setting.value)
    except ValueError as error:
        return Problem(layer.name, setting.path, str(error))
    before = chosen.get(name)
    if name.startswith("permissions.") and isinstance(before, tuple) and isinstance(value, tuple):
        value = tuple(dict.fromkeys((*before, *value)))
    chosen[name] = value
    return None


def _unknown(setting: _Setting) -> str:
    camel = setting.path != setting.name
    near = get_close_matches(setting.name, READERS, n=1, cutoff=0.7)
    if not near:
        return "is not a setting."
    return f"is not a setting. Did you mean `{_camel(near[0]) if camel else near[0]}`?"


def _table(name: str, chosen: Mapping[str, object]) -> dict[str, object]:
    prefix = f"{name}."
    return {k.removeprefix(prefix): v for k, v in chosen.items() if k.startswith(prefix)}


def _read(path: Path, problems: list[Problem], *, restricted: bool = False) -> Layer:
    try:
        values = tomllib.loads(path.read_text("utf-8")) if path.is_file() else {}
    except (OSError, ValueError) as error:
        problems.append(Problem(str(path), "", f"cannot be read: {error}"))
        values = {}
    return Layer(str(path), values, restricted)


def _snake(key: str) -> str:
    return re.sub(r"(?<=[a-z0-9])[A-Z]", lambda found: f"_{found[0]}", key).lower()


def _camel(name: str) -> str:
    return re.sub(r"_([a-z])", lambda found: found[1].upper(), name)


_TABLES = frozenset(
    {"provider", "retry", "delegate", "snapshots", "permissions", "alerts", "telemetry"}
)
_OWN = frozenset({"data_dir", "workspace_trusted", "log", "permissions.allow", "mcp_servers"})
_OWN_TABLES = ("provider.", "snapshots.", "telemetry.")
"""What a workspace may not set for itself."""
_VARIABLES = {"SIDECAR_DATA_DIR": "data_dir", "SIDECAR_LOG": "log"}
_PROVIDER = {"ANTHROPIC_BASE_URL": "base_url", "ANTHROPIC_API_KEY": "api_key"}

"""All settings: fields of `Config` or of its tables."""

from collections.abc import Mapping
from dataclasses import field
from decimal import Decimal
from pathlib import Path

import platformdirs

from sidecar.config.alert_thresholds import Alerts
from sidecar.config.mcp_settings import McpServer
from sidecar.config.provider_settings import NamedProvider
from sidecar.config.readers import (
    DOLLARS,
    EFFORT,
    FILE,
    FLAG,
    FOLDER,
    LEVEL,
    NAME,
    NO_KEY,
    POLICY,
    PRESERVE,
    PRESERVE_TEXTS,
    PROVIDERS,
    RECIPIENTS,
    REJECTING,
    RULES,
    SECRET,
    SERVERS,
    TEXT,
    URL,
    ZONES,
    LogLevel,
    Secret,
    count,
)
from sidecar.config.retention import Retention
from sidecar.config.setting import Setting, setting, settings_of, table_of
from sidecar.config.strategies import STRATEGIES, Strategy
from sidecar.config.telemetry_settings import Telemetry
from sidecar.core.conversation.wishes import Preserve
from sidecar.core.dataclass import dataclass
from sidecar.core.prompt.budget import ZONE_STARTS, ZoneStarts
from sidecar.core.text.redaction import SHORTEST, secrets_in

OFFLINE_MODEL = "offline"
DEFAULT_MODEL = "claude-opus-5-5"


def default_model(has_key: bool) -> str:
    return DEFAULT_MODEL if has_key else OFFLINE_MODEL


def default_data_dir() -> Path:
    return Path(platformdirs.user_data_dir("sidecar", appauthor=False))


@dataclass(frozen=True, slots=True)
class Provider:
    """The provider of hosted models."""

    name: str = setting(
        "anthropic", TEXT, "the provider's name, for costs and logs", applies="restart", own=True
    )
    base_url: str = setting(
        "",
        URL,
        "where a proxy or a local server answers; empty is the provider's own address",
        applies="restart",
        own=True,
    )
    api_key: Secret = setting(
        NO_KEY, SECRET, "the key, kept in memory only", applies="restart", own=True, secret=True
    )


@dataclass(frozen=True, slots=True)
class PermissionSettings:
    """Permission rules, as in docs/reference/permissions.md."""

    allow: tuple[str, ...] = setting(
        (),
        RULES,
        'calls that need not be asked about, such as `["write_file", "shell:git status *"]`',
        applies="turn",
        own=True,
        adds_up=True,
    )
    reject: tuple[str, ...] = setting(
        (),
        REJECTING,
        "calls that are never made; a workspace may add to them",
        applies="turn",
        adds_up=True,
    )


ANSWER_TOKENS = 32_000
"""Unless `max_tokens` is set."""


@dataclass(frozen=True, slots=True)
class DelegateLimits:
    """Limits of a subtask; near one, a last step is for the report."""

    steps: int = setting(
        50, count(1, 10_000), "model calls that one subtask may make", applies="turn"
    )
    tokens: int | None = setting(
        None,
        count(1000),
        "tokens in all requests and answers of one subtask; as many as its steps need unless set",
        applies="turn",
    )
    cost: Decimal | None = setting(
        None, DOLLARS, "what one subtask may cost; no bound unless set", applies="turn"
    )


@dataclass(frozen=True, slots=True)
class Retry:
    """Attempts and waits for failed model calls."""

    attempts: int = setting(
        10,
        count(1, 20),
        "how often a model call is tried in all; 3 times at most where there is no overload",
        applies="restart",
    )
    cap_ms: int = setting(
        60_000,
        count(0, 3_600_000),
        "the longest wait between two tries, in milliseconds",
        applies="restart",
    )
    total_ms: int = setting(
        120_000,
        count(0, 3_600_000),
        "how long is waited between all tries of one model call, in milliseconds",
        applies="restart",
    )


@dataclass(frozen=True, slots=True)
class SnapshotSizes:
    """Limits of workspace snapshots, in MiB."""

    file_mib: int = setting(
        2,
        count(1, 100_000),
        "how large a file may be to be restorable",
        applies="restart",
        own=True,
    )
    tracked_file_mib: int = setting(
        16, count(1, 100_000), "the same where git tracks the file", applies="restart", own=True
    )
    step_mib: int = setting(
        64, count(1, 100_000), "what one snapshot may read anew", applies="restart", own=True
    )
    workspace_mib: int = setting(
        1024,
        count(1, 100_000_000),
        "what is stored of one folder, compressed",
        applies="restart",
        own=True,
    )


@dataclass(frozen=True, slots=True)
class Sync:
    """Sessions on git remotes; only the user's own files may choose where they go."""

    remote: str = setting(
        "",
        TEXT,
        "the git remote that `sidecar sync` uses: a name of the project's remotes, an address or a "
        "path; `origin` of a trusted folder unless set",
        applies="turn",
        own=True,
    )
    after_turns: bool = setting(
        False,
        FLAG,
        "whether sessions are synced after each turn, in folders where you agreed to `sidecar "
        "sync`",
        applies="turn",
        own=True,
    )
    recipients: tuple[str, ...] = setting(
        (),
        RECIPIENTS,
        "public keys (`age1…`, `ssh-ed25519 …`) for which what is synced is encrypted, your own "
        "among them; needs the extra `encrypted`",
        applies="turn",
        own=True,
    )
    identity: str = setting(
        "",
        FILE,
        "the file with your secret key, of `age-keygen` or an ssh key without a passphrase, which "
        "reads what is synced encrypted",
        applies="turn",
        own=True,
    )


@dataclass(frozen=True, slots=True)
class Config:
    """The configuration; a session may choose model, agent, policy, window or limit."""

    model: str = setting(
        OFFLINE_MODEL,
        NAME,
        "the model that answers, by the provider's id; `claude-opus-5-5` where there is a key or a "
        "server, and else `offline`, which needs neither",
    )
    policy: str = setting(
        "economic",
        POLICY,
        "how the context is made smaller; `sidecar replay --compare` plays all of them",
    )
    agent: str = setting(
        "", TEXT, "the agent's name, which `agents` and `preserve` go by; a session may say another"
    )
    effort: str = setting(
        "",
        EFFORT,
        "how hard the model should think; empty leaves it to the model",
    )
    window: int | None = setting(
        None, count(1000), "tokens of context to use at most, never more than the model's own"
    )
    max_tokens: int | None = setting(
        None,
        count(1),
        f"tokens that one answer may have: {ANSWER_TOKENS:,} unless set, where the model gives as "
        "many; must be smaller than the window",
    )
    max_steps: int = setting(
        200, count(1, 10_000), "model calls in one turn, after which it ends", applies="turn"
    )
    auto_compact: bool = setting(True, FLAG, "whether the policy may rewrite the context by itself")
    auto_continue: bool = setting(
        True, FLAG, "whether a turn goes on by itself after a compaction in its middle"
    )
    summaries: bool = setting(
        True,
        FLAG,
        "whether a model may be asked for summaries; else they are made of the log's own words",
        applies="turn",
    )
    summary_model: str = setting(
        "", TEXT, "a cheaper model for summaries, asked where that costs less", applies="turn"
    )
    server_summaries: bool = setting(
        True,
        FLAG,
        "whether a provider that offers compaction of its own may write summaries, where that "
        "costs no more",
        applies="turn",
    )
    idle_compaction: bool = setting(
        True,
        FLAG,
        "whether a rewrite that will soon be needed is made while you are idle",
        applies="turn",
    )
    keep_alive: bool = setting(
        False,
        FLAG,
        "whether a warm prefix is kept alive through a pause, at most three times, where the "
        "arithmetic says it pays",
        applies="turn",
    )
    zones: ZoneStarts = setting(
        ZONE_STARTS,
        ZONES,
        "the shares of the room for input from which the meter is yellow, orange and red",
        applies="turn",
    )
    instructions: bool = setting(
        True,
        FLAG,
        "whether AGENTS.md and CLAUDE.md are read; a change is told with the next message and "
        "becomes static at the next rewrite",
        applies="turn",
        own=True,
    )
    learned: bool = setting(
        True,
        FLAG,
        "whether what is worth knowing in later sessions is kept in `.sidecar/learned` of a "
        "trusted workspace, and read from there",
        applies="turn",
        own=True,
    )
    provider: Provider = field(default_factory=Provider)
    retry: Retry = field(default_factory=Retry)
    delegate: DelegateLimits = field(default_factory=DelegateLimits)
    snapshots: SnapshotSizes = field(default_factory=SnapshotSizes)
    retention: Retention = field(default_factory=Retention)
    sync: Sync = field(default_factory=Sync)
    alerts: Alerts = field(default_factory=Alerts)
    telemetry: Telemetry = field(default_factory=Telemetry)
    permissions: PermissionSettings = field(default_factory=PermissionSettings)
    preserve: Mapping[str, Preserve] = setting(
        dict[str, Preserve],
        PRESERVE,
        '`{tools = ["skill"], patterns = ["^PLAN"], texts = [...], focus = "..."}`: what no '
        "rewrite touches and what summaries dwell on; by agent's name, or for all; a workspace may "
        "set no patterns",
        applies="turn",
        theirs=PRESERVE_TEXTS,
    )
    agents: Mapping[str, Strategy] = setting(
        dict[str, Strategy],
        STRATEGIES,
        '`{plan = {policy = "evict-hybrid", weights = {lru = 2, semantic = 1}, auto_compact = '
        "true}}`: how the context of one agent is made smaller, where that is another way than "
        "for all",
    )
    mcp_servers: tuple[McpServer, ...] = setting(
        (),
        SERVERS,
        "MCP servers for every session: `{command, args, env, cwd}` or `{url, headers}`",
        own=True,
        secret=True,
    )
    providers: tuple[NamedProvider, ...] = setting(
        (),
        PROVIDERS,
        "providers whose models are called `name/model`: `{kind, base_url, api_key}`, the key as "
        "text, `env:VARIABLE` or `keyring:SERVICE`; openai, gemini, openrouter, deepseek and local "
        "servers need no table",
        applies="restart",
        own=True,
        secret=True,
    )
    workspace_trusted: bool | None = setting(
        None,
        FLAG,
        "whether the workspace may run things, be changed, and configure the agent; asked once "
        "unless set",
        applies="restart",
        own=True,
    )
    data_dir: Path = setting(
        default_data_dir,
        FOLDER,
        "where sessions are stored; unless set, where this system keeps programs' data",
        applies="restart",
        own=True,
    )
    shared: bool = setting(
        True,
        FLAG,
        "whether `sidecar serve --stdio` shares one daemon with your other windows, where one can "
        "be shared; read from your own file alone",
        applies="restart",
        own=True,
    )
    log: LogLevel = setting(
        "info", LEVEL, "how much is written to stderr", applies="turn", own=True
    )


def keys_of(config: Config) -> tuple[str, ...]:
    """Gives providers' keys, which nothing that is shown or leaves may hold."""
    return tuple(filter(None, (config.provider.api_key, *(p.api_key for p in config.providers))))


def secrets_of(config: Config, variables: Mapping[str, str]) -> tuple[str, ...]:
    """Gives what is removed anywhere: providers' keys, and secrets in variables.

    Servers that want no key are given a short word, which is one of many texts.
    """
    keys = (key for key in keys_of(config) if len(key) >= SHORTEST)
    return (*keys, *secrets_in(variables.items()))


def value_of(config: Config, name: str) -> object:
    table, _, key = name.rpartition(".")
    return getattr(getattr(config, table) if table else config, key)


SETTINGS: Mapping[str, Setting] = settings_of(Config)
"""All settings by dotted name."""
TABLES: Mapping[str, type] = table_of(Config)
"""Tables by name, with their dataclass."""

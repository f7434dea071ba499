"""Reads the configuration from files, environment and `initialize`."""

import os
import stat
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import platformdirs

from sidecar.config.layers import Layer, LayerKind, Problem, Resolved, merge, resolve
from sidecar.config.provider_settings import with_keys
from sidecar.config.settings import Config
from sidecar.core.errors import BadRequest

OPTIONS = "initializationOptions"
WORKSPACE_FILE = ".sidecar/config.toml"
MOST_BYTES = 256 * 1024
"""Largest configuration file; a workspace's may hold anything."""
MOST_KEYS, MOST_DEPTH = 1_000, 16
"""Settings of a file, and tables in one another."""
DEEP = "it is nested too deeply."

_VARIABLES = {"data_dir": "SIDECAR_DATA_DIR", "log": "SIDECAR_LOG"}
_PROVIDER = {"base_url": "ANTHROPIC_BASE_URL", "api_key": "ANTHROPIC_API_KEY"}
VARIABLES: Mapping[str, str] = {
    **_VARIABLES,
    **{f"provider.{key}": variable for key, variable in _PROVIDER.items()},
}
"""Environment variables by setting."""


def user_file() -> Path:
    return Path(platformdirs.user_config_dir("sidecar", appauthor=False)) / "config.toml"


def settings_files(workspace: Path | None) -> tuple[Path, ...]:
    theirs = () if workspace is None else (workspace / WORKSPACE_FILE,)
    return (user_file(), *theirs)


def load(
    *,
    workspace: Path | None,
    environment: Mapping[str, str],
    options: Mapping[str, object],
    user: Path | None = None,
    trusted: Callable[[Config], bool] | None = None,
) -> tuple[Config, tuple[Problem, ...]]:
    resolved = resolve_all(
        workspace=workspace,
        environment=environment,
        options=options,
        user=user,
        trusted=trusted,
    )
    check_options(resolved)
    return resolved.config, resolved.problems


def check_options(resolved: Resolved) -> None:
    """Raises BadRequest for a wrong client option."""
    for problem in resolved.problems:
        if problem.where == OPTIONS and not problem.unknown:
            raise BadRequest(
                f"{OPTIONS}.{problem.path}: {problem.message}", f"params.{OPTIONS}.{problem.path}"
            )


def unknown_options(options: Mapping[str, object]) -> tuple[str, ...]:
    found = resolve(options_layers(options)).problems
    return tuple(str(problem) for problem in found if problem.unknown)


def resolve_all(
    *,
    workspace: Path | None,
    environment: Mapping[str, str],
    options: Mapping[str, object],
    user: Path | None = None,
    trusted: Callable[[Config], bool] | None = None,
) -> Resolved:
    """Reads and merges all layers. Blocks.

    `user` replaces the user's file. The workspace's file counts if `trusted` says so of the other
    layers, or without it if these set `workspace_trusted`.
    """
    unread: list[Problem] = []
    usual = _read(user or user_file(), unread)
    told = [usual, environment_layer(environment), *options_layers(options)]
    if workspace is not None and _trusts(merge(told)[0], trusted):
        told.insert(1, _read(workspace / WORKSPACE_FILE, unread, restricted=True))
    resolved = resolve(told)
    providers = with_keys(resolved.config.providers, environment)
    config = replace(resolved.config, providers=providers)
    problems = (*unread, *resolved.problems)
    if config.permissions.allow and any(problem.hides_rules for problem in problems):
        # What is missing may be the rule against the very call that another one allows.
        config = replace(config, permissions=replace(config.permissions, allow=()))
        problems = tuple(map(_with_consequence, problems))
    return Resolved(config, resolved.origins, problems)


def _with_consequence(problem: Problem) -> Problem:
    said = f"{problem.message} A daemon that starts with this has no rule that allows."
    return replace(problem, message=said) if problem.hides_rules else problem


def _trusts(config: Config, trusted: Callable[[Config], bool] | None) -> bool:
    return bool(config.workspace_trusted) if trusted is None else trusted(config)


def environment_layer(environment: Mapping[str, str]) -> Layer:
    found = {key: environment.get(name) or None for key, name in _VARIABLES.items()}
    provider = {key: environment.get(name) or None for key, name in _PROVIDER.items()}
    values = {**found, "provider": provider}
    return Layer("environment", values, kind="environment", names=VARIABLES)


def options_layers(options: Mapping[str, object]) -> tuple[Layer, ...]:
    nested = options.get("config")
    direct = {key: value for key, value in options.items() if key != "config"}
    inner = nested if isinstance(nested, Mapping) else {"config": nested}
    return (Layer(OPTIONS, inner, kind="client"), Layer(OPTIONS, direct, kind="client"))


def _read(path: Path, problems: list[Problem], *, restricted: bool = False) -> Layer:
    text = ""
    values: dict[str, object] = {}
    try:
        text = _text(path)
        values = _bounded(tomllib.loads(text))
    except (OSError, RecursionError, ValueError) as error:
        why = DEEP if isinstance(error, RecursionError) else error
        problems.append(Problem(str(path), "", f"cannot be read: {why}", theirs=restricted))
    kind: LayerKind = "workspace" if restricted else "user"
    return Layer(str(path), values, restricted, kind, text=text)


def _bounded(values: dict[str, object]) -> dict[str, object]:
    """Raises ValueError for more or deeper keys than any settings have: others recurse."""
    level: list[dict[str, object] | list[object]] = [values]
    keys = 0
    for _ in range(MOST_DEPTH):
        level = [
            inner
            for one in level
            for inner in (one.values() if isinstance(one, dict) else one)
            if isinstance(inner, dict | list)
        ]
        keys += sum(len(one) for one in level if isinstance(one, dict))
        if not level:
            break
    else:
        raise ValueError(DEEP)
    if keys + len(values) > MOST_KEYS:
        raise ValueError(f"it has more than {MOST_KEYS:,} settings.")
    return values


def _text(path: Path) -> str:
    """Gives a file's text, or none where nothing is; raises OSError for what is no file."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        if any(one.is_symlink() and not one.exists() for one in (path, *path.parents)):
            raise OSError("a link leads nowhere.") from None
        return ""
    if os.path.realpath(path) == os.devnull:
        return ""
    if not stat.S_ISREG(mode):
        raise OSError("it is no file.")
    with path.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise ValueError(f"it is larger than {MOST_BYTES // 1024} KiB.")
    return data.decode("utf-8")

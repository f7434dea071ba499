"""`sidecar config show`, `check` and `init`."""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from rich.table import Table
from rich.text import Text

from sidecar.commands.terminal import say, terminal
from sidecar.config.document import in_words, places, sample, shown, told
from sidecar.config.layers import Resolved
from sidecar.config.loading import WORKSPACE_FILE, resolve_all, user_file
from sidecar.config.setting import Setting
from sidecar.config.settings import SETTINGS, Config, value_of
from sidecar.core.errors import BadRequest
from sidecar.core.parts import JsonObject
from sidecar.core.text.visible import visible, visible_json
from sidecar.workspace.trust import is_trusted

PIPED = 200
"""Columns without a known terminal."""


def show(folder: Path, options: str, *, origin: bool, as_json: bool) -> int:
    """`origin`: prints each source too; `options`: JSON."""
    try:
        resolved = _resolved(folder, options)
    except BadRequest as error:
        say(error.message)
        return 2
    if as_json:
        sys.stdout.write(f"{visible_json(as_object(resolved), indent=2)}\n")
    else:
        _print(resolved, origin=origin)
    for problem in resolved.problems:
        say(str(problem))
    return 1 if resolved.problems else 0


def check(folder: Path) -> int:
    resolved = _resolved(folder, "{}")
    for problem in resolved.problems:
        print(visible(str(problem)))
    bare = readable_keys(resolved)
    for path in bare:
        print(visible(f"{path}: others can read it, and it holds a key: chmod 600 {path}"))
    workspace = folder / WORKSPACE_FILE
    read = {origin.layer.name for found in resolved.origins.values() for origin in found}
    if workspace.is_file() and not _trusts(resolved.config, folder):
        print(visible(f"{workspace} is not read: this folder is not trusted."))
    if not resolved.problems and not bare:
        named = ", ".join(sorted(read)) or "nowhere"
        print(visible(f"Nothing is wrong; settings come from {named}."))
    return 1 if resolved.problems or bare else 0


def readable_keys(resolved: Resolved) -> list[str]:
    given = (resolved.origins.get(name, ()) for name, one in SETTINGS.items() if one.secret)
    layers = {origin.layer.name: origin.layer for found in given for origin in found}
    files = (name for name, layer in layers.items() if layer.kind == "user")
    return sorted(file for file in files if Path(file).stat().st_mode & 0o077)


def init(*, overwrite: bool) -> int:
    """Writes every setting as a comment, for the owner only."""
    path = user_file()
    flags = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if overwrite else os.O_EXCL)
    if path.exists() and not overwrite:
        say(f"{path} is there already; --overwrite replaces it")
        return 1
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, flags, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(sample())
    except OSError as error:
        say(f"{path} cannot be written ({error.strerror}): XDG_CONFIG_HOME names another folder")
        return 1
    print(visible(f"Wrote {path}: take away a # to set something."))
    return 0


def as_object(resolved: Resolved) -> JsonObject:
    """Returns `{value, default, origin: [{layer, at}], applies}` by name; no secrets."""
    return {name: _described(one, resolved) for name, one in SETTINGS.items()}


def _described(one: Setting, resolved: Resolved) -> JsonObject:
    given = places(resolved.origins.get(one.name, ()))
    return {
        "value": shown(one, value_of(resolved.config, one.name)),
        "default": told(one.default),
        "origin": given or [{"layer": "default", "at": ""}],
        "applies": one.applies,
    }


def _print(resolved: Resolved, *, origin: bool) -> None:
    table = Table(box=None, pad_edge=False)
    for heading in ("setting", "value", *(("from",) if origin else ())):
        table.add_column(heading, overflow="fold")
    for name, one in SETTINGS.items():
        value = in_words(shown(one, value_of(resolved.config, name)))
        origins = resolved.origins.get(name, ())
        cells = [Text(name), Text(visible(value), style="bold" if origins else "")]
        if origin:
            named = [f"{each.layer.kind}  {visible(str(each))}" for each in origins]
            cells.append(Text("\n".join(named) or "default", style="" if named else "dim"))
        table.add_row(*cells)
    terminal(width=None if sys.stdout.isatty() else PIPED).print(table)


def _resolved(folder: Path, options: str) -> Resolved:
    try:
        given = json.loads(options)
    except ValueError as error:
        raise BadRequest(f"--options is no JSON: {error}", "options") from error
    if not isinstance(given, Mapping):
        raise BadRequest("--options must be a JSON object, as initializationOptions are", "options")
    return resolve_all(
        workspace=folder,
        environment=os.environ,
        options=given,
        trusted=lambda config: _trusts(config, folder),
    )


def _trusts(config: Config, folder: Path) -> bool:
    return is_trusted(config.data_dir, folder, config.workspace_trusted)

"""Where an MCP server starts: programs that run packages take code from the current folder.

So even in a trusted workspace they start in the empty folder.
"""

import itertools
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from sidecar.config.mcp_settings import McpServer
from sidecar.workspace.trust import StartingPlaces
from sidecar.workspace.variables import path_apart

_NPM = "runs what package.json calls `bin`, or node_modules/.bin holds, and obeys .npmrc"
_PNPM = f"{_NPM}, pnpm-workspace.yaml and .pnpmfile.cjs"
_YARN = "runs the program that .yarnrc.yml calls `yarnPath`, and its plugins"
_BUN = f"{_NPM}, and takes what bunfig.toml loads before"
_UV = "obeys uv.toml, pyproject.toml and .python-version, and runs a `.venv` they name"
_PIPX = "runs a file of the package's name, and takes versions from `__pypackages__`"
_DENO = "takes other code for what it imports where deno.json or package.json says so"
_DOTNET = "takes packages from where nuget.config says, and tools by global.json"

RUNNERS: Final[Mapping[str, str]] = {
    "npx": _NPM,
    "npm exec": _NPM,
    "npm x": _NPM,
    "pnpx": _PNPM,
    "pnx": _PNPM,
    "pnpm dlx": _PNPM,
    "yarn dlx": _YARN,
    "bunx": _BUN,
    "bun x": _BUN,
    "uvx": _UV,
    "uv x": _UV,
    "uv tool run": _UV,
    "pipx run": _PIPX,
    "deno run": _DENO,
    "deno x": _DENO,
    "dnx": _DOTNET,
    "dotnet dnx": _DOTNET,
    "dotnet tool exec": _DOTNET,
}
"""Programs, or programs with their subcommand, and what they take from the current folder.

`uv run` is one where it names no file of the workspace, but others or packages (`--with`).
Not here: what runs a project's own code by intent (`uv run x.py`, `npm run`, `deno run x.ts`)."""

_REMOTE = re.compile(r"(?:npm|jsr|https?):")
_CONTAINERS: Final = frozenset({"docker", "podman", "nerdctl", "kubectl", "ssh"})
"""Run their words elsewhere, and take nothing from the current folder."""
_ENDING = re.compile(r"\.(?:exe|cmd|bat|ps1)$|-cli\.[cm]?js$")
_VALUED = re.compile(
    "--(?:directory|project|config-file|cache-dir|color|dir|cwd|prefix|cache|registry|userconfig|"
    "loglevel|filter|workspace|with|with-editable|with-requirements|python|env-file)|-[CFw]"
)
"""Options of the runners with a value in the next word, which is no subcommand."""
_RELATIVE = re.compile(r"((?:--?[\w-]+=|file:)?)(\.{1,2}(?:[/\\].*)?)", re.DOTALL)


def starting(server: McpServer, standing: StartingPlaces) -> tuple[McpServer, Path]:
    """The server as started, and its folder.

    A folder named in the settings is taken, unless in an untrusted workspace, from which no program
    is taken either. A runner that starts in the empty folder gets absolute paths for `.`, `./x` and
    `../x`.
    """
    workspace = standing.workspace
    if not standing.trusted:
        path = path_apart(os.environ, workspace)
        server = replace(server, environment={"PATH": path, **server.environment})
    if server.cwd:
        named = Path(os.path.realpath(workspace / os.path.expanduser(server.cwd)))
        apart = not named.is_relative_to(os.path.realpath(workspace))
        return server, named if standing.trusted or apart else standing.empty
    if not standing.trusted:
        return server, standing.empty
    if not runner(server.command):
        return server, workspace
    program, *words = server.command
    placed = (program, *(_absolute(word, workspace) for word in words))
    return replace(server, command=placed), standing.empty


def runner(command: tuple[str, ...]) -> str:
    """Why a command takes code from the current folder; empty if it does not, or is unknown.

    Behind any word, and in the text of a shell, since wrappers (`op run --`, `nice`, `env -S`)
    start their words in their own folder; not behind a container, whose folder is another.
    """
    words = [piece for word in command for piece in word.split() or [word]]
    for at, word in enumerate(words):
        if _program(word) in _CONTAINERS:
            return ""
        if why := _taken(words[at:]):
            return why
    return ""


def _taken(words: list[str]) -> str:
    name = _program(words[0])
    if name == "deno" and not any(_REMOTE.match(word) for word in words[1:]):
        return ""
    operands = [
        word
        for before, word in itertools.pairwise(words)
        if not (word.startswith("-") or _VALUED.fullmatch(before))
    ]
    if name == "uv" and operands[:1] == ["run"]:
        with_other = any(word.startswith("--with") for word in words)
        named = [word for word in operands if "/" in word or word.endswith(".py")]
        away = all(word.startswith(("/", "~")) for word in named)
        return _UV if away and (named or with_other) else ""
    sizes = (0, 1, 2)
    return next((why for n in sizes if (why := RUNNERS.get(" ".join((name, *operands[:n]))))), "")


def _program(word: str) -> str:
    """`npx` of `/usr/bin/npx`, `NPX.cmd`, `x/npx-cli.js`, `'npx` and `-Snpx`."""
    base = re.split(r"[/\\]", word.strip("\"'();&|"))[-1].casefold()
    return _ENDING.sub("", base.removeprefix("-s"))


def _absolute(word: str, workspace: Path) -> str:
    found = _RELATIVE.fullmatch(word)
    return word if found is None else found[1] + os.path.normpath(workspace / found[2])

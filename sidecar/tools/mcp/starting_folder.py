"""Chooses an MCP server's folder: the workspace only if the command's words say so.

Many programs obey files in the current folder, which a rule for writing lets a model fill. So even
a trusted workspace's server otherwise starts in an empty folder.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from sidecar.config.mcp_settings import McpServer
from sidecar.tools.rules.shell_words import without_options
from sidecar.workspace.trust import StartingPlaces
from sidecar.workspace.variables import path_apart

_NPM = "runs what package.json calls `bin`, or node_modules/.bin holds, and obeys .npmrc"
_PNPM = f"{_NPM}, pnpm-workspace.yaml and .pnpmfile.cjs"
_YARN = "runs the program that .yarnrc.yml calls `yarnPath`, and its plugins"
_BUN = f"{_NPM}, and takes what bunfig.toml loads before"
_UV = "obeys uv.toml, pyproject.toml and .python-version, and runs a `.venv` they name"
_PIPX = "runs a file of the package's name, and takes versions from `__pypackages__`"
_MISE = "obeys mise.toml"
_PIXI = "obeys pixi.toml"
_DENO = "takes other code for what it imports where deno.json or package.json says so"
_DOTNET = "takes packages from where nuget.config says, and tools by global.json"

RUNNERS: Final[Mapping[str, str]] = {
    "npx": _NPM,
    "npm exec": _NPM,
    "npm x": _NPM,
    "npm create": _NPM,
    "npm init": _NPM,
    "npm innit": _NPM,
    "mise exec": _MISE,
    "mise x": _MISE,
    "rtx exec": _MISE,
    "rtx x": _MISE,
    "gem exec": "obeys .gemrc",
    "pip-run": "obeys pip.conf",
    "pnpx": _PNPM,
    "pnx": _PNPM,
    "pnpm dlx": _PNPM,
    "pnpm create": _PNPM,
    "nlx": _PNPM,
    "yarn dlx": _YARN,
    "yarn create": _YARN,
    "bunx": _BUN,
    "bun x": _BUN,
    "bun create": _BUN,
    "uvx": _UV,
    "uv x": _UV,
    "uv tool run": _UV,
    "pipx run": _PIPX,
    "pixi exec": _PIXI,
    "pixi x": _PIXI,
    "deno": _DENO,
    "dx": _DENO,
    "dlx": _PNPM,
    "dnx": _DOTNET,
    "dotnet dnx": _DOTNET,
    "dotnet tool exec": _DOTNET,
    "dotnet tool execute": _DOTNET,
    "dotnet tool run": _DOTNET,
}
"""Programs, or programs with their subcommand, and what they take from the current folder."""

OWN_CODE: Final = frozenset(
    {
        *("npm run", "npm test", "npm start", "yarn", "pnpm", "bun run", "deno task", "uv run"),
        *("poetry run", "pdm run", "hatch run", "pipenv run", "rye run", "bundle exec", "rake"),
        *("make", "just", "task", "go run", "cargo run", "dotnet run", "gradle", "mix", "mise run"),
        *("docker compose", "docker-compose", "podman compose"),
    }
)
"""Programs that run a project's own code, unless their words name files elsewhere or packages."""

_NAME = r"(?:--?[\w-]+=)?(?:[\w@.-]+/)*[\w@.-]*\w\."
_CODE_ENDINGS = r"[cm]?[jt]sx?|pyz?|rb|php|pl|lua|sh|go|rs|jar|cs|exs?"
_CODE = re.compile(rf"{_NAME}(?:{_CODE_ENDINGS})")
_FILE = re.compile(
    rf"{_NAME}(?:{_CODE_ENDINGS}|json5?|ya?ml|toml|ini|cfg|conf|env|txt|md|csv|sql|db|sqlite3?)"
)
"""A relative file of code, settings or data."""
_AWAY = re.compile(r"(?:--?[\w-]+=|-[A-Za-z])?[/~]|--with|-w|.*://|[^@]*/[^@]*@")
"""A path elsewhere, also behind an option, an address, or packages beside the project's."""
_BORDER = re.compile(r"[\s;&|`$()]+")
"""Between words, of a shell's text too."""
_REMOTE = re.compile(r"(?:npm|jsr|https?):")
_ENDING = re.compile(r"\.(?:exe|cmd|bat|ps1)$|-cli\.[cm]?js$")
_RELATIVE = re.compile(r"((?:--?[\w-]+=|file:)?)(\.{1,2}(?:[/\\].*)?)", re.DOTALL)


def starting(
    server: McpServer, standing: StartingPlaces, variables: Mapping[str, str]
) -> tuple[McpServer, Path]:
    """Returns the server as to be started, and its folder.

    A setting's `cwd` counts, except inside an untrusted workspace, whose programs are not found
    either. In the empty folder a trusted workspace's server gets absolute paths for `.`, `./x`,
    `../x`.
    """
    workspace = standing.workspace
    path = {name: value for name, value in variables.items() if name == "PATH"}
    if not standing.trusted:
        path = {"PATH": path_apart(variables, workspace)}
    server = replace(server, environment={**path, **server.environment})
    if server.cwd:
        return server, _named(server.cwd, standing)
    if not standing.trusted:
        return server, standing.empty
    if is_of_the_workspace(server.command):
        return server, workspace
    placed = tuple(_absolute(word, workspace) for word in server.command)
    return replace(server, command=placed), standing.empty


def _named(cwd: str, standing: StartingPlaces) -> Path:
    """Where a relative folder is a link, the workspace chose where that leads, and nobody else."""
    given, root = Path(os.path.expanduser(cwd)), Path(os.path.realpath(standing.workspace))
    named = Path(os.path.realpath(root / given))
    apart = given.is_absolute() and not named.is_relative_to(root)
    linked = not named.is_relative_to(root) and str(named) != os.path.normpath(root / given)
    counts = apart or (standing.trusted and (given.is_absolute() or not linked))
    return named if counts else standing.empty


def is_of_the_workspace(command: tuple[str, ...]) -> bool:
    """Whether a command names a workspace file or runs workspace code.

    Never if any word begins a runner of packages, also in a shell's text: wrappers (`op run --`,
    `nice`, `env -S`) start the words behind them.
    """
    words = [piece for word in command for piece in _BORDER.split(word) if piece]
    if not words or any(_takes_packages(words[at:]) for at in range(len(words))):
        return False
    if any(not OWN_CODE.isdisjoint(_said(words[at:])) for at in range(len(words))):
        # Beside packages from elsewhere, a file of data is not what runs.
        return any(map(_CODE.fullmatch, words)) or not any(map(_AWAY.match, words[1:]))
    return bool(_RELATIVE.fullmatch(words[0])) or any(map(_FILE.fullmatch, words))


def _takes_packages(words: list[str]) -> bool:
    said = _said(words)
    if _program(words[0]) == "deno":
        return "deno x" in said or any(map(_REMOTE.match, words))
    # Some take the beginning of a subcommand for all of it: `npm exe`, `bun c`.
    begun = [one for one in said if " " in one]
    return any(one in RUNNERS for one in said) or any(
        name.startswith(one) for name in RUNNERS for one in begun
    )


def _said(words: list[str]) -> set[str]:
    """Gives a program and its first words, with and without options, as names in tables."""
    name, *rest = words
    readings = [(_program(name), *one) for one in without_options(tuple(rest))]
    return {" ".join(one[:size]) for one in readings for size in (1, 2, 3)}


def _program(word: str) -> str:
    """Names a program: `npx` of `/usr/bin/npx`, `NPX.cmd`, `npx-cli.js`, `-Snpx` and `-mnpx`."""
    base = re.split(r"[/\\]", word.strip("\"'();&|"))[-1].casefold()
    return _ENDING.sub("", re.sub("^-[ms]", "", base))


def _absolute(word: str, workspace: Path) -> str:
    found = _RELATIVE.fullmatch(word)
    return word if found is None else found[1] + os.path.normpath(workspace / found[2])

"""Servers started by programs that take code from the current folder: real processes, too."""

import asyncio
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sidecar.config.mcp_settings import McpServer
from sidecar.session.changes.session_trust import Trust
from sidecar.tools.mcp.starting_folder import RUNNERS, is_of_the_workspace, starting
from sidecar.workspace.trust import StartingPlaces, make_empty
from tests.tools.mcp.test_servers import SERVER, running

TRUSTED = StartingPlaces(Path("/w"), Path("/empty"), trusted=True)


def stand_in(folder: Path, name: str) -> None:
    """Make a program that reports its folder and words, and then is a server."""
    program = folder / name
    folder.mkdir(exist_ok=True)
    report = '{ pwd -P; for word in "$@"; do echo "$word"; done; } > "$REPORT"'
    program.write_text(f"#!/bin/sh\n{report}\nexec {sys.executable} {SERVER}\n")
    program.chmod(0o755)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "trusted"), [("npx", True), ("npx", False), ("docs-mcp", True), ("pnpm", True)]
)
async def test_a_server_starts_in_the_empty_folder_but_for_a_projects_own_code(
    name: str, trusted: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace, report = tmp_path / "work", tmp_path / "report"
    workspace.mkdir()
    stand_in(tmp_path / "bin", name)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    standing = Trust(trusted, workspace, tmp_path / "data").standing()
    words = ("-y", "@scope/server-filesystem", ".", "./docs", "../x", "--root=./docs", "docs")
    server = McpServer("notes", (name, *words), {"REPORT": str(report)})
    async with running() as servers:
        servers.provide("one", [server], standing)
        assert (await servers.found("one")).said == ()
    folder, *given = report.read_text().splitlines()
    assert (folder == str(workspace)) == (trusted and name == "pnpm")
    assert (folder == str(tmp_path / "data/servers")) == (not trusted or name != "pnpm")
    # Where the folder is not trusted, nothing leads there.
    placed = ("-y", words[1], f"{workspace}", f"{workspace}/docs", f"{tmp_path}/x",
              f"--root={workspace}/docs", "docs")  # fmt: skip
    assert tuple(given) == (placed if trusted and name != "pnpm" else words)


@pytest.mark.long
async def test_an_empty_folder_that_cannot_be_made_fails_its_servers_alone(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    standing = Trust(True, tmp_path, tmp_path / "data").standing()
    async with running() as servers:
        other = McpServer("notes", (sys.executable, SERVER), cwd=".")
        servers.provide("one", [McpServer("docs", ("npx", "docs")), other], standing)
        found = await servers.found("one")
    assert len(found.tools) == 4
    (said,) = found.said
    assert "The MCP server docs cannot be used" in said


@pytest.mark.parametrize(
    ("cwd", "trusted", "folder"),
    [
        (".", True, "project"),
        ("sub", True, "project/sub"),
        ("{home}/other", True, "other"),
        ("~/other", False, "other"),
        # A folder that is not trusted is not the place of a server, whoever names it.
        (".", False, "data"),
        ("{home}/project/sub", False, "data"),
        ("{home}/link", False, "data"),
        # A link of the workspace's own is nobody's word.
        ("out", True, "data"),
        ("out", False, "data"),
        ("in", True, "project/sub"),
        ("../other", True, "other"),
        ("../other", False, "data"),
    ],
)
def test_a_server_starts_in_the_folder_of_its_settings_where_that_is_trusted(
    cwd: str, trusted: bool, folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "project").mkdir()
    (tmp_path / "link").symlink_to("project")
    (tmp_path / "project/out").symlink_to("../other")
    (tmp_path / "project/in").symlink_to("sub")
    standing = StartingPlaces(tmp_path / "project", tmp_path / "data", trusted)
    server = McpServer("one", ("npx", "./x"), cwd=cwd.format(home=tmp_path))
    found, place = starting(server, standing, os.environ)
    assert (found.command, place) == (server.command, tmp_path / folder)


@pytest.mark.long
@pytest.mark.parametrize("trusted", [False, True])
async def test_no_server_is_taken_from_an_untrusted_folder_that_path_names(
    trusted: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace, report = tmp_path / "work", tmp_path / "report"
    workspace.mkdir()
    stand_in(workspace / "bin", "docs-mcp")
    monkeypatch.setenv("PATH", f"{workspace / 'bin'}{os.pathsep}{os.environ['PATH']}")
    server = McpServer("notes", ("docs-mcp",), {"REPORT": str(report)})
    async with running() as servers:
        servers.provide("one", [server], Trust(trusted, workspace, tmp_path / "data").standing())
        said = (await servers.found("one")).said
    assert report.exists() == trusted
    assert ("there is no command docs-mcp" in "".join(said)) != trusted


@pytest.mark.long
@pytest.mark.parametrize("path", [".:{}", "{}:", "bin:{}", ""])
async def test_no_server_is_taken_from_a_relative_folder_of_path(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(tmp_path, "docs-mcp")
    stand_in(tmp_path / "bin", "docs-mcp")
    report = tmp_path / "report"
    monkeypatch.setenv("PATH", path.format(os.environ["PATH"]))
    server = McpServer("notes", ("docs-mcp",), {"REPORT": str(report)})
    trusted = StartingPlaces(tmp_path, tmp_path / "empty", trusted=True)
    async with running() as servers:
        servers.provide("one", [server], trusted)
        said = (await servers.found("one")).said
    assert "there is no command docs-mcp" in "".join(said)
    assert not report.exists()


@pytest.mark.long
async def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    async with running() as servers:
        server = McpServer("one", (sys.executable, SERVER), cwd="gone")
        servers.provide("one", [server], StartingPlaces(tmp_path, tmp_path, trusted=True))
        (said,) = (await servers.found("one")).said
        assert f"there is no folder {tmp_path / 'gone'}" in said


@pytest.mark.parametrize(
    "command",
    ["npx -y mcp-remote https://x.test", "/usr/bin/npx x", r"C:\node\NPX.cmd x", "npm exec x",
     "npm --yes x mcp", "pnpx x", "pnpm --silent dlx x", "yarn dlx x", "bunx x", "bun x y",
     "uvx x", "uv --quiet tool run x", "uv --directory /a tool run x", "pipx run x",
     "deno run -A npm:mcp-remote", "deno run --allow-net jsr:@x/y", "dnx x@1", "env A=1 npx x",
     "/usr/bin/env -u B A=1 npx x", "cmd /c npx -y x", "cmd.exe /d /s /c npx x",
     "op run -- npx -y s", "doppler run -- uvx s", "mise x -- npx s", "volta run npx s",
     "nice -n 5 npx s", "sudo -u me npx s", "env -S 'npx s'", "env -S'npx s'", "mcp-proxy npx s",
     "corepack pnpm dlx s", "python -m uv tool run s", "python3 -m pipx run s",
     "node /usr/lib/npm/bin/npx-cli.js s", "node npm-cli.js exec s", "sh -c 'cd /x; npx s'",
     "bash -lc 'exec \"npx\" s'", "uv run --with mcp mcp run /a/server.py",
     "uv run --offline python /a/server.py", "uv run --with=mcp[cli]==1.2 mcp",
     "uv run -w mcp mcp", "uv run https://x.test/s.py", "go run github.com/x/y@latest",
     "uv --index-url https://x.test tool run s --config c.json", "deno -A npm:s --config x.json",
     "npm --package foo exec s -- --config c.json", "env --unset FOO npx s --db a.db",
     "uv run --with s s --db-path notes.db", "uv run -w s s --config c.json", "npm create x a.json",
     "uv run -ws s notes.db", "go run github.com/x/y@latest --db notes.db", "npm init x c.json",
     "dx npm:x notes.db", "yarnpkg dlx s notes.db", "corepack pnpm@9 dlx s notes.db",
     "mise exec npm:s -- s notes.db", "mise x -- s notes.db", "rtx x npm:s -- s notes.db",
     "dotnet tool run s notes.db",
     "pixi exec s notes.db", "pixi x s notes.db", "nlx s notes.db", "sh -c 'A=1;npx s notes.db'",
     "sh -c '$(npx s x.db)'",
     "npm exe s notes.db", "npm ini s c.json", "npm cre s c.json", "bun create s notes.db",
     "python -mpipx run x notes.md", "python3 -muv tool run x notes.md",
     "bun c s notes.db", "deno x -p s s notes.db",
     "pnpm create x", "npm --prefix=/a start", "poetry --directory=/a run x", "make -C/a mcp"],
)  # fmt: skip
def test_runners_are_known(command: str) -> None:
    words = tuple(shlex.split(command, posix="\\" not in command))
    assert not is_of_the_workspace(words)
    assert starting(McpServer("one", words), TRUSTED, {})[1] == Path("/empty")


@pytest.mark.parametrize(
    "command",
    ["node server.js", "node --enable-source-maps dist/index.mjs", "python -u tools/server.py",
     "notes-mcp --db notes.sqlite", "notes-mcp --config=conf/notes.toml", "./bin/server",
     "npm run mcp", "npm test exec", "op run -- npm run mcp", "yarn mcp", "pnpm exec x",
     "uv run server.py", "uv run --with mcp mcp run server.py", "uv run notes",
     "go run ./cmd/notes", "deno run -A main.ts", "bun run x.ts", "docker compose run -T notes"],
)  # fmt: skip
def test_a_server_whose_words_name_the_workspace_starts_there(command: str) -> None:
    server = McpServer("one", tuple(command.split(" ")))
    assert starting(server, TRUSTED, {}) == (server, Path("/w"))


@pytest.mark.parametrize(
    "command",
    ["docs-mcp", "docs-mcp serve 1.2.3 example.com", "python -m x", "python -c pass",
     "tsx /a/server.ts", "go run /a/x.go", "uv --directory /a run notes", "node /a/server.js",
     "/w/bin/notes", "docker run -i --rm image npx s", "env", "cmd /c", "pipx list"],
)  # fmt: skip
def test_any_other_server_starts_in_the_empty_folder(command: str) -> None:
    server = McpServer("one", tuple(command.split(" ")))
    assert starting(server, TRUSTED, {}) == (server, Path("/empty"))


def test_a_relative_path_is_one_in_the_workspace_still() -> None:
    command = ("notes-mcp", ".", "./docs", "--root=../x", "docs", "./x:/y")
    placed = ("notes-mcp", "/w", "/w/docs", "--root=/x", "docs", "/w/x:/y")
    assert starting(McpServer("one", command), TRUSTED, {})[0].command == placed


def test_each_runner_has_its_reason() -> None:
    assert all(RUNNERS.values())


@pytest.mark.long
@pytest.mark.skipif(shutil.which("npx") is None, reason="needs npx")
async def test_npx_itself_finds_nothing_above_the_empty_folder(tmp_path: Path) -> None:
    above = tmp_path / "up"
    above.mkdir()
    (above / "package.json").write_text('{"name": "up", "version": "1.0.0", "bin": "./up.sh"}')
    (above / "up.sh").write_text("#!/bin/sh\necho ran\n")
    (above / "up.sh").chmod(0o755)
    empty = Trust(None, tmp_path, above / "data").standing().empty
    make_empty(empty)
    plain = above / "plain"
    plain.mkdir()
    assert "ran" in await npx(plain, tmp_path)
    assert "ran" not in await npx(empty, tmp_path)
    # However the mark was lost, the next start mends it.
    (empty / "package.json").unlink()
    (empty / "package.json").symlink_to(above / "package.json")
    make_empty(empty)
    assert "ran" not in await npx(empty, tmp_path)


async def npx(folder: Path, home: Path) -> str:
    """Run `npx up` in a folder, without a net."""
    settings = {"offline": "true", "update_notifier": "false", "cache": str(home / "cache")}
    ours = {f"npm_config_{name}": value for name, value in settings.items()}
    process = await asyncio.create_subprocess_exec(
        *("npx", "-y", "up"), cwd=folder, env={**os.environ, **ours, "HOME": str(home)},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    async with asyncio.timeout(60):
        output, _ = await process.communicate()
    return output.decode()

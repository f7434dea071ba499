"""Every command, and every way in which an editor starts the daemon, in a folder of modules."""

import json
import re
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.commands.everything import LIMIT, OUTSIDE, PROGRAM, Past, environment, names_of_commands

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
STARTING = re.compile(r"""["'\s]-m["',\s]+["']?sidecar\b(?!\.)""")
THEIRS = frozenset(packages_distributions()) - {"sidecar"}
"""Modules of all packages that are installed here."""
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"processId": None, "rootUri": None, "capabilities": {}},
}


def hostile(folder: Path, names: frozenset[str]) -> Path:
    """Fill a folder with modules that leave a mark when they are run; gives where marks lie."""
    marks = folder.parent / "marks"
    marks.mkdir()
    for name in names:
        if name.isidentifier():
            (folder / name).mkdir()
            run = f"open({str(marks / name)!r}, 'w').close()\n"
            (folder / name / "__init__.py").write_text(run)
            (folder / name / "__main__.py").write_text(run)
    return marks


def marked(marks: Path) -> list[str]:
    return sorted(path.name for path in marks.iterdir())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "hostile"
    made.mkdir()
    (made / "x.py").write_text("a = 1\n")
    return made


def everything() -> frozenset[str]:
    ours = {"sidecar", "sidecar_client", "sitecustomize", "usercustomize"}
    return THEIRS | sys.stdlib_module_names | ours


def test_no_command_runs_what_lies_in_the_folder(tmp_path: Path, folder: Path) -> None:
    marks = hostile(folder, everything())
    prompts = ("create out.txt with `hello`", "replace `a = 1` with `a = 2` in x.py")
    past = Past(tmp_path / "data", folder, prompts)
    past.live(3)
    (tmp_path / "elsewhere").mkdir()
    seen = set()
    for arguments in past.commands(tmp_path / "elsewhere"):
        done = subprocess.run(
            [PROGRAM, *arguments],
            cwd=folder,
            env=environment(past.data),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT,
        )
        seen.add(arguments[0])
        said = done.stdout + done.stderr
        assert marked(marks) == [], (arguments, said)
        assert "Traceback" not in said, (arguments, said)
        assert done.returncode == (2 if "--judge" in arguments else 0), (arguments, said)
    assert names_of_commands() - set(OUTSIDE) <= seen


def ways() -> list[list[str]]:
    """How editors and clients start the daemon, as their sources and pages have it."""
    found = {
        tuple(re.findall(r"[\"']([^\"']+)[\"']", match))
        for path in (*ROOT.glob("editors/**/*"), *ROOT.glob("clients/**/*"))
        if path.suffix in (".lua", ".el", ".ts", ".md", ".py") and "node_modules" not in path.parts
        for match in re.findall(
            r"[\"']sidecar[\"'],?\s+[\"']serve[\"'](?:,?\s+[\"'][-\w]+[\"'])?",
            path.read_text("utf-8"),
        )
    }
    return [list(words) for words in sorted(found)]


@pytest.mark.parametrize("command", [*ways(), ["sidecar", "--stdio"], ["python"], ["python", "-P"]])
def test_no_daemon_runs_what_lies_in_the_folder(
    tmp_path: Path, folder: Path, command: list[str]
) -> None:
    # Before a module that was asked for by `-m`, Python itself imports from the current folder;
    # from then on nothing may come from there.
    names = THEIRS | {"sidecar_client"} if command == ["python"] else everything()
    marks = hostile(folder, frozenset(names))
    program = [str(PROGRAM), *command[1:]]
    if command[0] == "python":
        program = [sys.executable, *command[1:], "-m", "sidecar", "serve", "--stdio"]
    done = subprocess.run(
        program,
        cwd=folder,
        env=environment(tmp_path / "data"),
        input=f"{json.dumps(INITIALIZE)}\n",
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT,
    )
    assert '"serverInfo"' in done.stdout or '"agentInfo"' in done.stdout, done.stderr
    assert marked(marks) == []


def test_whoever_starts_the_module_keeps_the_folder_out() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "sidecar", "clients", "editors", "*.md"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=LIMIT,
    )
    texts = {
        name: (ROOT / name).read_bytes().decode("utf-8", "replace")
        for name in listed.stdout.split()
    }
    unsafe = [
        (name, match[0])
        for name, text in texts.items()
        for match in STARTING.finditer(text)
        if not text[: match.start() + 1].rstrip("\"', ").endswith("-P")
    ]
    assert unsafe == []
    assert any(STARTING.search(text) for text in texts.values())

"""Machines that have Debian's Python and uv alone, or pipx alone: no git, no ripgrep, not root."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.installing.registry import BLOCK, LIMIT, ROOT, build, clean, lines_said, offer, typed

pytestmark = pytest.mark.long
DEBIAN = Path("/usr/bin/python3")
NOBODY = 65534
PLAYED = "Nothing was lost."
RUN_BY = "import sys; sys.path.insert(0, {!r}); from pipx.main import cli; sys.exit(cli())"


def version_of(python: Path) -> str:
    asked = [python, "-c", "import sys, ensurepip; print(*sys.version_info[:2])"]
    return subprocess.run(
        asked, capture_output=True, text=True, check=False, timeout=LIMIT
    ).stdout.strip()


@pytest.fixture(scope="module")
def machine() -> Iterator[Path]:
    """A folder that everybody reads, with `registry` and with nobody's `home`."""
    if not DEBIAN.exists() or version_of(DEBIAN) != " ".join(map(str, sys.version_info[:2])):
        pytest.skip("the system has no Python of this version with venv")
    folder = Path(tempfile.mkdtemp(prefix="sidecar-machine-"))
    try:
        folder.chmod(0o755)
        (folder / "registry").mkdir()
        offer(folder / "registry")
        build(folder / "registry")
        yield folder
    finally:
        shutil.rmtree(folder)


def logged_in(machine: Path, *programs: Path) -> tuple[dict[str, str], Path]:
    """Give the environment and the home of somebody who has these programs alone."""
    home = Path(tempfile.mkdtemp(prefix="home-", dir=machine))
    if os.getuid() == 0:
        os.chown(home, NOBODY, NOBODY)
    tools = home / "path"
    tools.mkdir()
    for program in programs:
        (tools / program.name).symlink_to(program)
    environment = clean(home, machine / "registry")
    for name in ("VIRTUAL_ENV", "UV_PYTHON", "UV_TOOL_BIN_DIR", "UV_TOOL_DIR"):
        environment.pop(name)
    return {**environment, "PATH": f"{tools}:{home}/.local/bin"}, home


def by_nobody(line: str, environment: dict[str, str], home: Path) -> str:
    """Have a shell do a line, without root's rights; gives what it printed."""
    ids = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.getuid() == 0 else {}
    done = subprocess.run(
        ["/bin/sh", "-ec", line],
        cwd=home,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT,
        **ids,  # type: ignore[arg-type]
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def plays(environment: dict[str, str], home: Path) -> None:
    for program in ("git", "rg"):
        assert shutil.which(program, path=environment["PATH"]) is None
    assert PLAYED in by_nobody("sidecar demo", environment, home)


def test_with_uv_alone(machine: Path) -> None:
    uv = Path(typed("uv run -q --no-project printenv UV", os.environ).strip())
    shutil.copy(uv, machine / "uv")
    environment, home = logged_in(machine, machine / "uv")
    environment |= {"UV_PYTHON": str(DEBIAN), "UV_PYTHON_DOWNLOADS": "never"}
    assert "uv tool install sidecard" in lines_said()
    by_nobody("uv tool install sidecard", environment, home)
    plays(environment, home)


def test_with_pipx_alone(machine: Path) -> None:
    """As Debian's package of it does, by Debian's Python."""
    packages = machine / "pipx-packages"
    needed = ("pipx", "argcomplete", "click", "filelock", "packaging", "platformdirs", "userpath")
    here = Path(sysconfig.get_path("purelib"))
    if not all((here / name).is_dir() for name in needed):
        pytest.skip("pipx is not installed beside the tests")
    for name in needed:
        for part in here.glob(f"{name}*"):
            shutil.copytree(part, packages / part.name)
    pipx = machine / "pipx"
    pipx.write_text(f"#!{DEBIAN}\n{RUN_BY.format(str(packages))}\n")
    pipx.chmod(0o755)
    environment, home = logged_in(machine, pipx, DEBIAN)
    assert "pipx install sidecard" in lines_said()
    by_nobody("pipx install sidecard", environment, home)
    plays(environment, home)


def test_with_pip_in_a_virtual_environment(machine: Path) -> None:
    """Outside of one, Debian's pip refuses, and says so itself."""
    environment, home = logged_in(machine, DEBIAN)
    by_nobody("python3 -m venv own", environment, home)
    assert "pip install sidecard" in lines_said()
    environment["PATH"] = f"{home}/own/bin:{environment['PATH']}"
    by_nobody("pip install sidecard", environment, home)
    plays(environment, home)


def test_the_readmes_demo_installs_no_tool_of_development(tmp_path: Path) -> None:
    blocks = BLOCK.findall((ROOT / "README.md").read_text("utf-8"))
    (line,) = (one for one in blocks if one.endswith("uv run sidecar demo\n"))
    own = tmp_path / "own"
    given = {"UV_PROJECT_ENVIRONMENT": str(own), "UV_OFFLINE": "1", "UV_PYTHON": sys.executable}
    kept = {
        name: os.environ[name] for name in ("PATH", "HOME", "UV_CACHE_DIR") if name in os.environ
    }
    done = subprocess.run(
        ["sh", "-ec", line],
        cwd=ROOT,
        env={**kept, **given, "XDG_DATA_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT,
    )
    if "the network was disabled" in done.stderr:
        pytest.skip("uv's cache does not have all that is locked")
    assert PLAYED in done.stdout, done.stderr
    inside = {path.name for path in own.glob("lib/python3*/site-packages/*")}
    assert "pygls" in inside
    assert inside & {"pytest", "mypy", "ruff", "hypothesis", "pipx", "openai"} == set()

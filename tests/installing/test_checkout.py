"""What our pages say to type in a checkout installs what is there, and nobody else's packages."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.installing.registry import (
    BLOCK,
    LIMIT,
    OURS,
    ROOT,
    STRANGERS,
    clean,
    lines_to_type,
    offer,
    pages,
    typed,
    version_here,
    wheel,
)

DEBIAN = Path("/usr/bin/python3")
MANAGED = list(Path("/usr/lib").glob("python3*/EXTERNALLY-MANAGED"))
STRANGE = re.compile(
    r"(?:\b(?:install|add|i|uvx|npx|pipx run|dlx)|--with)\s+(?:-\S+\s+)*"
    r"['\"]?sidecar(?:-client)?(?:\[|['\"`@=<>]|\s|$)|sidecar\[\w+\]"
)
"""Has a registry asked for a package of another's."""


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what we build on, and with strangers' packages of our names that are newer."""
    folder = tmp_path_factory.mktemp("registry")
    offer(folder, *OURS, *STRANGERS)
    return folder


@pytest.fixture
def environment(tmp_path: Path, registry: Path) -> dict[str, str]:
    return clean(tmp_path, registry)


def test_nothing_has_a_registry_asked_for_our_names() -> None:
    assert STRANGE.search("uv tool install sidecar\n")
    assert STRANGE.search("pip install -q 'sidecar[telemetry]'")
    assert STRANGE.search("npm i sidecar-client\n")
    found = [(name, match[0]) for name, text in pages().items() for match in STRANGE.finditer(text)]
    assert found == []


@pytest.mark.long
@pytest.mark.parametrize("line", ["uv tool install .", "uv tool install --force '.[telemetry]'"])
def test_the_daemon_is_installed_from_the_checkout(
    line: str, tmp_path: Path, environment: dict[str, str]
) -> None:
    assert any(line.rsplit(maxsplit=1)[-1] in text for text in pages().values())
    typed(line, environment)
    version = typed(str(tmp_path / "bin/sidecar") + " --version", environment, tmp_path)
    assert version == f"sidecar {version_here()}\n"
    inside = typed(f"ls {tmp_path}/tools/sidecard/lib/python3*/site-packages", environment)
    assert f"sidecard_client-{version_here('clients/python')}.dist-info" in inside
    assert ("opentelemetry_sdk" in inside) == ("telemetry" in line)


def test_the_python_client_is_installed_from_the_checkout(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    line = "uv pip install ./clients/python"
    assert f"`{line}`" in pages()["clients/python/README.md"]
    typed(f"uv venv -q {tmp_path / 'venv'}", environment)
    del environment["UV_PYTHON"]
    typed(line, environment)
    program = "import sidecar_client, importlib.metadata as m; print(m.version('sidecard-client'))"
    said = typed(f'{tmp_path}/venv/bin/python -P -c "{program}"', environment, tmp_path)
    assert said == f"{version_here('clients/python')}\n"


@pytest.mark.long
def test_the_wheels_of_the_extension_take_none_of_their_names_from_a_registry(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    """As `editors/vscode/src/command.ts` has uv install them."""
    source = (ROOT / "editors/vscode/src/command.ts").read_text("utf-8")
    assert '["tool", "install", "--force", "--with", client, daemon]' in source
    typed(f"uv build -q --wheel --all-packages --out-dir {tmp_path}/dist {ROOT}", environment)
    (daemon,) = (tmp_path / "dist").glob("sidecard-*.whl")
    (client,) = (tmp_path / "dist").glob("sidecard_client-*.whl")
    typed(f"uv tool install --force --with {client} {daemon}", environment, tmp_path)
    inside = typed(f"ls {tmp_path}/tools/sidecard/lib/python3*/site-packages", environment)
    assert f"sidecard_client-{version_here('clients/python')}.dist-info" in inside


@pytest.mark.skipif(shutil.which("npm") is None, reason="no npm")
def test_the_typescript_client_is_packed_from_the_checkout() -> None:
    (line,) = lines_to_type("./clients/typescript")
    if not (ROOT / "clients/typescript/node_modules").is_dir():
        pytest.skip("its packages are not installed: npm --prefix clients/typescript ci")
    install, _, rest = line.partition(" && ")
    assert install == "npm --prefix clients/typescript ci"
    said = typed(f"{rest} --dry-run", dict(os.environ))
    assert re.search(r"^sidecard-client-[\d.]+\.tgz$", said, re.M)
    assert "dist/" in said


def readmes(ending: str) -> str:
    """Give the README's command that ends so."""
    blocks = BLOCK.findall((ROOT / "README.md").read_text("utf-8"))[:2]
    (line,) = (line for block in blocks for line in block.splitlines() if line.endswith(ending))
    return line


def program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


CALLED = 'echo "uv was called with $@"'
NO_PIP = """case "$2" in
pip) echo "No module named pip" >&2; exit 1 ;;
site) echo "$HOME/.local" ;;
esac"""
"""Debian's Python as it is without `python3-pip`."""
INSTALLING = """[ "$*" = "install uv" ] && /bin/cp "$HOME/uv" "$HOME/.local/bin/uv" """


@pytest.mark.parametrize("ending", ["uv run sidecar demo", "uv run pytest"])
@pytest.mark.parametrize("has", ["uv", "pipx"])
def test_the_readmes_commands_work_with_uv_alone_and_with_pipx_alone(
    has: str, ending: str, tmp_path: Path
) -> None:
    """uv needs no Python, and pipx no pip."""
    tools = tmp_path / "path"
    if has == "uv":
        program(tools / "uv", CALLED)
    else:
        program(tmp_path / "uv", CALLED)
        (tmp_path / ".local/bin").mkdir(parents=True)
        program(tools / "python3", NO_PIP)
        program(tools / "pipx", INSTALLING)
    (tools / "sh").symlink_to("/bin/sh")
    environment = {"HOME": str(tmp_path), "PATH": str(tools)}
    said = typed(readmes(ending), environment, tmp_path)
    assert f"uv was called with {ending[3:]}\n" in said


@pytest.mark.skipif(not MANAGED, reason="pip of this system installs anywhere")
@pytest.mark.parametrize("ending", ["uv run sidecar demo", "uv run pytest"])
def test_the_readmes_commands_get_uv_where_pip_is_kept_from_the_system(
    ending: str, tmp_path: Path
) -> None:
    has_pip = subprocess.run(
        [DEBIAN, "-m", "pip", "--version"], capture_output=True, check=False, timeout=LIMIT
    )
    if has_pip.returncode:
        pytest.skip("the system's Python has no pip")
    line = readmes(ending)
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    script = b'#!/bin/sh\necho "uv was called with $@"\n'
    wheel(wheels, "uv", "1", {"uv-1.data/scripts/uv": script})
    tools = tmp_path / "path"
    tools.mkdir()
    for name in ("sh", "python3"):
        (tools / name).symlink_to(f"/usr/bin/{name}")
    environment = {
        "HOME": str(tmp_path),
        "PATH": str(tools),
        "PIP_CONFIG_FILE": "/dev/null",
        "PIP_FIND_LINKS": str(wheels),
        "PIP_IGNORE_INSTALLED": "1",  # A uv of this system's is not on the PATH above.
        "PIP_NO_INDEX": "1",
        "PIP_USER": "1",  # As pip decides by itself for everybody but root.
    }
    assert f"uv was called with {ending[3:]}\n" in typed(line, environment, tmp_path)

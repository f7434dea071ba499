"""What our pages say to type: each line installs what is here, and nobody else's packages."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import Distribution, distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DEBIAN = Path("/usr/bin/python3")
MANAGED = list(Path("/usr/lib").glob("python3*/EXTERNALLY-MANAGED"))
LIMIT = 300
OURS = {"sidecar", "sidecar-client"}
TOOLS = {"mypy", "ruff", "hypothesis", "pytest", "import-linter", "uv"}
"""Large, and nothing that is installed needs them."""
STRANGERS = re.compile(
    r"(?:\b(?:install|add|i|uvx|npx|pipx run|dlx)|--with)\s+(?:-\S+\s+)*"
    r"['\"]?sidecar(?:-client)?(?:\[|['\"`@=<>]|\s|$)|sidecar\[\w+\]"
)
"""Has a registry asked for a package of our name."""
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.M | re.S)


def pages() -> dict[str, str]:
    """Give the text of what is read, and of what is printed, by its path."""
    command = ["git", "ls-files", "*.md", "sidecar", "clients", "editors"]
    listed = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=30
    ).stdout.split()
    kinds = (".md", ".py", ".ts", ".json", ".lua", ".el", ".txt")
    return {
        name: (ROOT / name).read_text("utf-8")
        for name in listed
        if name.endswith(kinds) and "lock" not in name and name != "CHANGELOG.md"
    }


def lines_to_type(word: str) -> list[str]:
    blocks = [(name, block) for name, text in pages().items() for block in BLOCK.findall(text)]
    return [
        line
        for name, block in blocks
        if name.endswith(".md")
        for line in block.splitlines()
        if word in line
    ]


def wheel(folder: Path, name: str, version: str, files: dict[str, bytes]) -> None:
    """Write a wheel that any Python takes."""
    about = f"{name}-{version}.dist-info"
    said = "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files.setdefault(f"{about}/METADATA", f"Name: {name}\nVersion: {version}\n".encode())
    files[f"{about}/WHEEL"] = said.encode()
    files[f"{about}/RECORD"] = "".join(
        f"{path},,\n" for path in (*files, f"{about}/RECORD")
    ).encode()
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        for path, data in files.items():
            about_file = zipfile.ZipInfo(path)
            about_file.external_attr = 0o100755 << 16
            archive.writestr(about_file, data)


def packed(one: Distribution, folder: Path) -> None:
    """Make a wheel again of what is installed."""
    name = re.sub(r"[-_.]+", "_", one.name)
    files = {}
    for file in one.files or ():
        path = Path(str(file.locate()))
        inside = ".." not in file.parts and "__pycache__" not in file.parts and path.is_file()
        if inside and file.name not in ("INSTALLER", "REQUESTED", "RECORD", "WHEEL"):
            parts = [
                f"{name}-{one.version}.dist-info" if p.endswith(".dist-info") else p
                for p in file.parts
            ]
            files["/".join(parts)] = path.read_bytes()
    wheel(folder, name, one.version, files)


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what we build on, and with strangers' packages of our names that are newer."""
    folder = tmp_path_factory.mktemp("registry")
    for one in distributions():
        if one.name.lower() not in OURS | TOOLS:
            packed(one, folder)
    for name in OURS:
        module = name.replace("-", "_")
        wheel(folder, module, "99", {f"{module}/__init__.py": b"__version__ = 'a stranger'\n"})
    return folder


@pytest.fixture
def environment(tmp_path: Path, registry: Path) -> dict[str, str]:
    """An empty home, and no index but the folder."""
    kept = ("PATH", "LANG", "SSL_CERT_FILE")
    given = {
        "HOME": str(tmp_path),
        "UV_CACHE_DIR": str(tmp_path / "cache"),
        "UV_FIND_LINKS": str(registry),
        "UV_NO_INDEX": "1",
        "UV_OFFLINE": "1",
        "UV_PYTHON": sys.executable,
        "UV_TOOL_BIN_DIR": str(tmp_path / "bin"),
        "UV_TOOL_DIR": str(tmp_path / "tools"),
        "VIRTUAL_ENV": str(tmp_path / "venv"),
    }
    return {**{name: os.environ[name] for name in kept if name in os.environ}, **given}


def typed(line: str, env: dict[str, str], folder: Path = ROOT) -> str:
    """Have a shell do a line as it is written; gives what it printed."""
    done = subprocess.run(
        ["sh", "-ec", line],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_nothing_has_a_registry_asked_for_our_names() -> None:
    assert STRANGERS.search("uv tool install sidecar\n")
    assert STRANGERS.search("pip install -q 'sidecar[telemetry]'")
    assert STRANGERS.search("npm i sidecar-client\n")
    found = [
        (name, match[0]) for name, text in pages().items() for match in STRANGERS.finditer(text)
    ]
    assert found == []


@pytest.mark.long
@pytest.mark.parametrize("line", sorted({*lines_to_type("uv tool install"), "uv tool install ."}))
def test_the_daemon_is_installed_from_the_checkout(
    line: str, tmp_path: Path, environment: dict[str, str]
) -> None:
    assert line in lines_to_type("uv tool install")
    typed(line, environment)
    version = typed(str(tmp_path / "bin/sidecar") + " --version", environment, tmp_path)
    assert version == f"sidecar {version_here()}\n"
    inside = typed(f"ls {tmp_path}/tools/sidecar/lib/python3*/site-packages", environment)
    assert f"sidecar_client-{version_here('clients/python')}.dist-info" in inside
    assert ("opentelemetry_sdk" in inside) == ("telemetry" in line)


def test_the_python_client_is_installed_from_the_checkout(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    (line,) = lines_to_type("./clients/python")
    typed(f"uv venv -q {tmp_path / 'venv'}", environment)
    del environment["UV_PYTHON"]
    typed(line, environment)
    program = "import sidecar_client, importlib.metadata as m; print(m.version('sidecar-client'))"
    said = typed(f'{tmp_path}/venv/bin/python -P -c "{program}"', environment, tmp_path)
    assert said == f"{version_here('clients/python')}\n"


def version_here(folder: str = ".") -> str:
    found = re.search(r'^version = "(.+)"$', (ROOT / folder / "pyproject.toml").read_text(), re.M)
    assert found
    return found[1]


@pytest.mark.long
def test_the_wheels_of_the_extension_take_none_of_their_names_from_a_registry(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    """As `editors/vscode/src/command.ts` has uv install them."""
    source = (ROOT / "editors/vscode/src/command.ts").read_text("utf-8")
    assert '["tool", "install", "--force", "--with", client, daemon]' in source
    typed(f"uv build -q --wheel --all-packages --out-dir {tmp_path}/dist {ROOT}", environment)
    (daemon,) = (tmp_path / "dist").glob("sidecar-*.whl")
    (client,) = (tmp_path / "dist").glob("sidecar_client-*.whl")
    typed(f"uv tool install --force --with {client} {daemon}", environment, tmp_path)
    inside = typed(f"ls {tmp_path}/tools/sidecar/lib/python3*/site-packages", environment)
    assert f"sidecar_client-{version_here('clients/python')}.dist-info" in inside


@pytest.mark.skipif(shutil.which("npm") is None, reason="no npm")
def test_the_typescript_client_is_packed_from_the_checkout() -> None:
    (line,) = lines_to_type("./clients/typescript")
    if not (ROOT / "clients/typescript/node_modules").is_dir():
        pytest.skip("its packages are not installed: npm --prefix clients/typescript ci")
    install, _, rest = line.partition(" && ")
    assert install == "npm --prefix clients/typescript ci"
    said = typed(f"{rest} --dry-run", dict(os.environ))
    assert re.search(r"^sidecar-client-[\d.]+\.tgz$", said, re.M)
    assert "dist/" in said


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
    blocks = BLOCK.findall((ROOT / "README.md").read_text("utf-8"))[:2]
    (line,) = (line for block in blocks for line in block.splitlines() if line.endswith(ending))
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

"""A folder in place of a registry, clean environments, and the lines that our pages say to type."""

import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from importlib.metadata import Distribution, distributions
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIMIT = 300
OURS = {"sidecard", "sidecard-client"}
STRANGERS = {"sidecar", "sidecar-client"}
"""Packages of others, that are called as our command and our module are."""
TOOLS = {"mypy", "ruff", "hypothesis", "pytest", "import-linter", "uv"}
"""Large, and nothing that is installed needs them."""
BLOCK = re.compile(r"^ *```sh\n(.*?)^ *```$", re.M | re.S)


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


SAID = re.compile(
    r"(?<![-\w])(?:uvx|uv (?:tool|pip) install|pipx (?:install|run)|pip install|npm install)"
    r" [^`\"\n]*?sidecard[^`\"\n]*"
)


def lines_said() -> list[str]:
    """Give what pages and messages say to type to have us from a registry."""
    return sorted({line.strip() for text in pages().values() for line in SAID.findall(text)})


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


def offer(folder: Path, *names: str) -> None:
    """Put what we build on into a folder, and packages called `names` that are nobody's we know."""
    for one in distributions():
        if one.name.lower() not in OURS | TOOLS:
            packed(one, folder)
    for name in names:
        module = name.replace("-", "_")
        wheel(folder, module, "99", {f"{module}/__init__.py": b"__version__ = 'a stranger'\n"})


def build(folder: Path) -> None:
    """Build our wheels, as they are published."""
    command = f"uv build -q --offline --wheel --all-packages --out-dir {folder} {ROOT}"
    typed(command, {"PATH": os.environ["PATH"], "HOME": str(folder)})


def clean(home: Path, registry: Path) -> dict[str, str]:
    """An empty home, and no index but a folder."""
    kept = ("PATH", "LANG", "SSL_CERT_FILE")
    given = {
        "HOME": str(home),
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_FIND_LINKS": str(registry),
        "PIP_NO_COMPILE": "1",
        "PIP_NO_INDEX": "1",
        "UV_CACHE_DIR": str(home / "cache"),
        "UV_FIND_LINKS": str(registry),
        "UV_NO_INDEX": "1",
        "UV_OFFLINE": "1",
        "UV_PYTHON": sys.executable,
        "UV_TOOL_BIN_DIR": str(home / "bin"),
        "UV_TOOL_DIR": str(home / "tools"),
        "VIRTUAL_ENV": str(home / "venv"),
    }
    return {**{name: os.environ[name] for name in kept if name in os.environ}, **given}


def typed(line: str, env: Mapping[str, str], folder: Path = ROOT) -> str:
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


def version_here(folder: str = ".") -> str:
    found = re.search(r'^version = "(.+)"$', (ROOT / folder / "pyproject.toml").read_text(), re.M)
    assert found
    return found[1]

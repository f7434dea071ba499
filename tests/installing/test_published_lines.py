"""Each line that we say to type for a published version, typed where a registry has one."""

import json
import os
import shutil
import sys
import threading
from base64 import b64encode
from collections.abc import Iterator
from functools import partial
from hashlib import sha512
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.installing.registry import (
    ROOT,
    STRANGERS,
    build,
    clean,
    lines_said,
    offer,
    typed,
    version_here,
)

pytestmark = pytest.mark.long
EXTRAS = {
    "bedrock": "boto3",
    "encrypted": "pyrage",
    "gemini": "google_genai",
    "keyring": "keyring",
    "openai": "openai",
    "telemetry": "opentelemetry_sdk",
    "vertex": "google_auth",
}
"""What each brings, as its folder is called."""
PLAYED = "Nothing was lost."


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with our wheels, with what they need, and with strangers' of our old names."""
    folder = tmp_path_factory.mktemp("registry")
    offer(folder, *STRANGERS, "own_policy")
    build(folder)
    return folder


@pytest.fixture
def environment(tmp_path: Path, registry: Path) -> dict[str, str]:
    return clean(tmp_path, registry)


def of(*beginnings: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("line", [o for o in lines_said() if o.startswith(beginnings)])


def test_every_line_is_tried_below() -> None:
    known = ("uv tool install ", "uvx ", "pipx ", "pip ", "uv pip ", "npm ")
    assert {line.partition(" ")[0] for line in lines_said()} == {"uv", "uvx", "pipx", "pip", "npm"}
    assert [line for line in lines_said() if not line.startswith(known)] == []


@of("uv tool install")
def test_by_uv(line: str, tmp_path: Path, environment: dict[str, str]) -> None:
    folder = tmp_path / "folder"
    shutil.copytree(ROOT / "docs/examples/own-policy", folder / "own-policy")
    typed(line, environment, folder)
    commands = {path.name for path in (tmp_path / "bin").iterdir()}
    assert commands == {"sidecar", "sidecard"}
    for name in commands:
        said = typed(f"{tmp_path}/bin/{name} --version", environment, tmp_path)
        assert said == f"sidecar {version_here()}\n"
    inside = typed(f"ls {tmp_path}/tools/sidecard/lib/python3*/site-packages", environment)
    assert f"sidecard_client-{version_here('clients/python')}.dist-info" in inside
    assert ("sidecar_tidy" in inside) == ("own-policy" in line)
    wanted = line.partition("[")[2].partition("]")[0].split(",")
    for extra, package in EXTRAS.items():
        if extra != "keyring":  # which others bring, too
            assert (f"{package}-" in inside) == (extra in wanted), extra


@of("uvx ")
def test_without_installing_by_uv(line: str, tmp_path: Path, environment: dict[str, str]) -> None:
    assert PLAYED in typed(line, environment, tmp_path)


def alone(tools: Path, **programs: str | Path) -> str:
    """Give a PATH of one new folder with these programs."""
    tools.mkdir()
    for name, program in programs.items():
        (tools / name).symlink_to(program)
    return str(tools)


@of("pipx ")
def test_by_pipx_alone(line: str, tmp_path: Path, environment: dict[str, str]) -> None:
    pipx = shutil.which("pipx", path=f"{Path(sys.executable).parent}{os.pathsep}{os.defpath}")
    if pipx is None:
        pytest.skip("pipx is not installed beside the tests")
    environment["PATH"] = alone(tmp_path / "path", pipx=pipx, sh="/bin/sh")
    environment["PIPX_DEFAULT_PYTHON"] = str(Path(sys._base_executable))
    said = typed(line, environment, tmp_path)
    if "run" in line:
        assert PLAYED in said
    else:
        said = typed(f"{tmp_path}/.local/bin/sidecard --version", environment, tmp_path)
        assert said == f"sidecar {version_here()}\n"


@of("pip ", "uv pip ")
def test_by_pip_in_a_virtual_environment(
    line: str, tmp_path: Path, environment: dict[str, str]
) -> None:
    own = "uv venv -q" if line.startswith("uv") else f"{sys._base_executable} -m venv"
    typed(f"{own} {tmp_path}/venv", environment, tmp_path)
    del environment["UV_PYTHON"]
    environment["PATH"] = f"{tmp_path}/venv/bin{os.pathsep}{environment['PATH']}"
    typed(line, environment, tmp_path)
    if "client" in line:
        program = "import sidecar_client; print(sidecar_client.__file__)"
        said = typed(f'{tmp_path}/venv/bin/python -P -c "{program}"', environment, tmp_path)
        assert said.startswith(str(tmp_path))
        packages = typed("uv pip list -q --format freeze", environment, tmp_path)
        assert {one.partition("==")[0] for one in packages.split()} == {
            "msgspec",
            "sidecard-client",
        }
    else:
        assert PLAYED in typed("sidecar demo", environment, tmp_path)


class Registry(BaseHTTPRequestHandler):
    """An npm registry of the packages that lie in a folder."""

    def __init__(self, folder: Path, *rest: object) -> None:
        self._folder = folder
        super().__init__(*rest)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        name = self.path.strip("/")
        if name.endswith(".tgz"):
            body = (self._folder / name).read_bytes()
        elif found := [*self._folder.glob(f"{name}-[0-9]*.tgz")]:
            body = json.dumps(self._about(name, found[0])).encode()
        else:
            self.send_error(404)
            return
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def _about(self, name: str, file: Path) -> dict[str, object]:
        version = file.stem.removeprefix(f"{name}-")
        hashed = b64encode(sha512(file.read_bytes()).digest()).decode()
        tarball = f"http://127.0.0.1:{self.server.server_address[1]}/{file.name}"
        modules = ROOT / "clients/typescript/node_modules"
        folder = modules / name if (modules / name).is_dir() else ROOT / "clients/typescript"
        package = json.loads((folder / "package.json").read_text("utf-8"))
        dist = {"integrity": f"sha512-{hashed}", "tarball": tarball}
        one = {**package, "dist": dist}
        return {"name": name, "dist-tags": {"latest": version}, "versions": {version: one}}

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


@pytest.fixture
def npm_registry(tmp_path: Path) -> Iterator[str]:
    client = ROOT / "clients/typescript"
    if shutil.which("npm") is None or not (client / "node_modules").is_dir():
        pytest.skip("no npm, or its packages are not installed: npm --prefix clients/typescript ci")
    folder = tmp_path / "npm"
    folder.mkdir()
    typed(f"npm --prefix {client} run --silent build", os.environ)
    for one in (client, client / "node_modules/vscode-jsonrpc"):
        typed(f"npm pack --silent --ignore-scripts {one}", os.environ, folder)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Registry, folder)) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()
        thread.join()


@of("npm ")
def test_by_npm(line: str, tmp_path: Path, npm_registry: str) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "package.json").write_text('{"private": true, "type": "module"}')
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "npm_config_registry": npm_registry,
        "npm_config_audit": "false",
    }
    typed(line, environment, project)
    asked = "import { connect } from 'sidecard-client'; console.log(typeof connect)"
    for module in ("module", "commonjs"):
        program = (
            asked
            if module == "module"
            else ("console.log(typeof require('sidecard-client').connect)")
        )
        said = typed(f'node --input-type={module} -e "{program}"', environment, project)
        assert said == "function\n"

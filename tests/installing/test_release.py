"""What is published says what is true of itself: version, licence, addresses, changelog."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

from tests.installing.registry import ROOT, typed

ADDRESS = "https://github.com/somebody/sidecar-fork"
REGISTRIES = ".ci/registries"
COLOURS = {"currentColor", "none", None}


@pytest.fixture(scope="module")
def release() -> ModuleType:
    found = importlib.util.spec_from_file_location("ci_release", ROOT / ".ci/release.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the files that a release reads."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stdout
    for name in filter(None, listed.split("\0")):
        if not name.startswith(("tests/", "docs/images/")) and (ROOT / name).is_file():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def swap(file: Path, old: str, new: str) -> None:
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")


def test_all_places_name_one_version(release: ModuleType) -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", release.version())


def test_a_place_that_names_another_is_told(release: ModuleType, checkout: Path) -> None:
    swap(checkout / "editors/emacs/sidecar.el", release.version(), "9.9.9")
    with pytest.raises(ValueError, match=r"9\.9\.9\teditors/emacs/sidecar\.el"):
        release.version(checkout)


def test_all_are_set_to_another(release: ModuleType, checkout: Path) -> None:
    release.set_version("12.3.45", checkout)
    assert release.version(checkout) == "12.3.45"
    lock = json.loads((checkout / "editors/vscode/package-lock.json").read_text("utf-8"))
    assert lock["packages"][""]["version"] == lock["version"] == "12.3.45"
    with pytest.raises(ValueError, match="is no version"):
        release.set_version("1.2", checkout)


def test_a_tag_is_of_the_version_and_the_changelog_has_it(
    release: ModuleType, checkout: Path
) -> None:
    tag = f"v{release.version()}"
    with pytest.raises(ValueError, match="is not of version"):
        release.check_tag("v99.0.0", checkout)
    swap(checkout / "CHANGELOG.md", "## Unreleased", f"## {tag[1:]} - 2026-12-01")
    release.check_tag(tag, checkout)
    assert release.notes(checkout).startswith("### Added\n")
    swap(checkout / "CHANGELOG.md", f"## {tag[1:]}", "## 98.0.0")
    with pytest.raises(ValueError, match="has nothing under"):
        release.check_tag(tag, checkout)


def test_there_is_one_changelog() -> None:
    command = ["git", "ls-files", "*CHANGELOG*"]
    listed = subprocess.check_output(command, cwd=ROOT, text=True, timeout=30)
    assert listed.split() == ["CHANGELOG.md"]
    package = json.loads((ROOT / "editors/vscode/package.json").read_text("utf-8"))
    assert "cp ../../CHANGELOG.md ." in package["scripts"]["package"]


@pytest.mark.parametrize("folder", ["clients/python", "clients/typescript", "editors/vscode"])
def test_each_package_has_the_licence(folder: str) -> None:
    assert (ROOT / folder / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


@pytest.mark.parametrize("address", ["http://github.com/a/b", "https://github.com/a", "x"])
def test_no_other_address_is_written(release: ModuleType, checkout: Path, address: str) -> None:
    with pytest.raises(ValueError, match="is no address"):
        release.stamp(address, checkout)


def test_what_is_built_has_licence_addresses_and_whole_links(
    release: ModuleType, checkout: Path
) -> None:
    release.stamp(ADDRESS, checkout)
    given = {"PATH": os.environ["PATH"], "HOME": str(checkout)}
    typed("uv build -q --offline --all-packages --out-dir dist", given, checkout)
    wheels = sorted((checkout / "dist").glob("*.whl"))
    assert [wheel.name.partition("-")[0] for wheel in wheels] == ["sidecard", "sidecard_client"]
    for file in wheels:
        with zipfile.ZipFile(file) as archive:
            (licence,) = (one for one in archive.namelist() if one.endswith("licenses/LICENSE"))
            assert archive.read(licence) == (ROOT / "LICENSE").read_bytes()
            (about,) = (one for one in archive.namelist() if one.endswith("/METADATA"))
            said = Parser().parsestr(archive.read(about).decode())
        urls = dict(one.split(", ") for one in said.get_all("Project-URL") or ())
        assert urls["Repository"] == ADDRESS
        assert urls["Changelog"] == f"{ADDRESS}/blob/v{said['Version']}/CHANGELOG.md"
        text = str(said.get_payload())
        targets = re.findall(r"\]\(([^)#\s]+)", text)
        assert targets
        assert [one for one in targets if not one.startswith("https://")] == []
        # What a link leads to is there.
        for path in re.findall(rf"{ADDRESS}/(?:blob|raw)/v[\d.]+/([^)#\s]+)", text):
            assert (ROOT / path).exists(), path
    for file in (checkout / "dist").glob("*.tar.gz"):
        with tarfile.open(file) as archive:
            assert any(name.endswith("/LICENSE") for name in archive.getnames())


def test_npm_packages_and_entries_name_the_repository(release: ModuleType, checkout: Path) -> None:
    release.stamp(ADDRESS, checkout)
    for folder in ("clients/typescript", "editors/vscode"):
        package = json.loads((checkout / folder / "package.json").read_text("utf-8"))
        wanted = {"type": "git", "url": f"git+{ADDRESS}.git", "directory": folder}
        assert package["repository"] == wanted
    entry = json.loads((checkout / REGISTRIES / "acp/agent.json").read_text("utf-8"))
    assert entry["repository"] == ADDRESS
    for name in ("melpa/sidecar", "sidecar.nvim.rockspec"):
        text = (checkout / REGISTRIES / name).read_text("utf-8")
        assert "OWNER" not in text
        assert "somebody/" in text
    assert '"somebody/sidecar-fork"' in (checkout / REGISTRIES / "melpa/sidecar").read_text()


def test_the_entry_of_acps_registry_is_as_the_registry_wants_it() -> None:
    """As its schema and its checks have it: id, version without `latest`, an icon in one colour."""
    folder = ROOT / REGISTRIES / "acp"
    entry = json.loads((folder / "agent.json").read_text("utf-8"))
    assert {"id", "name", "version", "description", "distribution"} <= set(entry)
    assert re.fullmatch(r"[a-z][a-z0-9-]*", entry["id"])
    (uvx,) = entry["distribution"].values()
    assert set(uvx) <= {"package", "cmd", "args", "env"}
    assert uvx["package"] == f"sidecard=={entry['version']}"
    assert uvx["args"] == ["serve", "--stdio"]
    text = (folder / "icon.svg").read_text("utf-8")
    assert "<!--" not in text
    icon = ElementTree.fromstring(text)
    assert icon.tag.endswith("svg")
    assert (icon.get("width"), icon.get("height"), icon.get("viewBox")) == (
        "16",
        "16",
        "0 0 16 16",
    )
    for one in icon.iter():
        assert {one.get("fill"), one.get("stroke")} <= COLOURS
        assert one.get("style") is None


def test_the_agent_answers_the_registrys_handshake(tmp_path: Path) -> None:
    """As the registry asks each entry, in an empty home: some way to log in is offered."""
    entry = json.loads((ROOT / REGISTRIES / "acp/agent.json").read_text("utf-8"))
    params = {"protocolVersion": 1, "clientInfo": {"name": "r", "version": "1"}}
    params["clientCapabilities"] = {"terminal": True, "_meta": {"terminal-auth": True}}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    done = subprocess.run(
        [sys.executable, "-P", "-m", "sidecar", *entry["distribution"]["uvx"]["args"]],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TERM": "dumb", "CI": "1"},
        input=json.dumps(asked) + "\n",
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    result = json.loads(done.stdout.splitlines()[0])["result"]
    assert {one.get("type", "agent") for one in result["authMethods"]} & {"agent", "terminal"}


def test_the_recipe_and_the_rockspec_take_files_that_are_there() -> None:
    recipe = (ROOT / REGISTRIES / "melpa/sidecar").read_text("utf-8")
    (pattern,) = re.findall(r':files \("([^"]+)"\)', recipe)
    assert ROOT / "editors/emacs/sidecar.el" in set(ROOT.glob(pattern))
    page = (ROOT / "docs/how-to/emacs.md").read_text("utf-8")
    assert pattern in page
    rockspec = (ROOT / REGISTRIES / "sidecar.nvim.rockspec").read_text("utf-8")
    (copied,) = re.findall(r"copy_directories = \{([^}]+)\}", rockspec)
    for folder in re.findall(r'"(\w+)"', copied):
        assert (ROOT / "editors/neovim" / folder).is_dir()


def test_a_tag_publishes_what_ci_packs_by_actions_that_are_pinned() -> None:
    flows = {path.name: path.read_text("utf-8") for path in (ROOT / ".github/workflows").iterdir()}
    assert set(flows) == {"release.yml", "test.yml"}
    used = re.findall(r"uses: (\S+)", "".join(flows.values()))
    assert len(used) > 10
    ours = "./.github/workflows/test.yml"
    assert [one for one in used if not re.search(r"@[0-9a-f]{40}$", one)] == [ours]
    release = flows["release.yml"]
    assert 'tags: ["v*"]' in release
    for script in set(re.findall(r"\.ci/[\w./]+", "".join(flows.values()))):
        assert (ROOT / script).is_file(), script
    assert ".ci/packages.sh" in release
    assert ".ci/packages.sh" in (ROOT / ".ci/run").read_text("utf-8")
    # PyPI and npm get no secret: they trust the workflow.
    secrets = set(re.findall(r"secrets\.(\w+)", release))
    assert secrets == {"VSCE_PAT", "OVSX_PAT", "NEOVIM_MIRROR_KEY", "LUAROCKS_API_KEY"}
    contributing = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    assert [one for one in secrets if one not in contributing] == []

"""What we build on is locked by its hashes, and asked about at the advisories."""

import importlib.util
import json
import re
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
OURS = {"sidecard", "sidecard-client"}
NPM = ("editors/vscode", "clients/typescript")


def test_every_python_package_is_locked_by_hash() -> None:
    with (ROOT / "uv.lock").open("rb") as file:
        packages = tomllib.load(file)["package"]
    assert len(packages) > 50
    for package in packages:
        if package["name"] in OURS:
            assert "editable" in package["source"]
            continue
        assert package["source"] == {"registry": "https://pypi.org/simple"}, package["name"]
        files = [*package.get("wheels", ()), *filter(None, [package.get("sdist")])]
        assert files, package["name"]
        for file in files:
            assert file["hash"].startswith("sha256:")
            assert file["url"].startswith("https://files.pythonhosted.org/")


def split(declared: str) -> tuple[str, tuple[str, ...]]:
    """Give a requirement's name and its bounds, without its marker."""
    found = re.match(r"([\w.-]+)(?:\[[^]]*\])?\s*([^;]*)", declared)
    assert found is not None
    bounds = tuple(sorted(one.strip() for one in found[2].split(",") if one.strip()))
    return re.sub(r"[-_.]+", "-", found[1]).lower(), bounds


def declared(requirement: str) -> tuple[str, tuple[str, ...]]:
    """As it is locked: what stands in this repository has no bounds there."""
    name, bounds = split(requirement)
    return name, () if name in OURS else bounds


def bounds_of(locked: list[dict[str, str]]) -> list[tuple[str, tuple[str, ...]]]:
    return sorted((one["name"], split(f"x {one.get('specifier', '')}")[1]) for one in locked)


@pytest.mark.parametrize("folder", [".", "clients/python"])
def test_every_dependency_that_is_declared_is_locked(folder: str) -> None:
    """With its extras and groups, and in the bounds that are declared now."""
    project = tomllib.loads((ROOT / folder / "pyproject.toml").read_text("utf-8"))
    about, groups = project["project"], project.get("dependency-groups", {})
    packages = tomllib.loads((ROOT / "uv.lock").read_text("utf-8"))["package"]
    (ours,) = (one for one in packages if one["name"] == about["name"])
    extras = about.get("optional-dependencies", {})
    needed = [*about["dependencies"], *(one for extra in extras.values() for one in extra)]
    assert sorted(map(declared, needed)) == bounds_of(ours["metadata"]["requires-dist"])
    assert set(ours["metadata"].get("provides-extras", ())) == set(extras)
    developing = ours["metadata"].get("requires-dev", {})
    assert set(developing) == set(groups)
    for name, group in groups.items():
        assert sorted(map(split, group)) == bounds_of(developing[name]), name
    named = {split(one)[0] for one in [*needed, *(o for group in groups.values() for o in group)]}
    assert len(named) > (30 if folder == "." else 0)
    assert named <= {package["name"] for package in packages}


@pytest.mark.parametrize("folder", NPM)
def test_every_npm_package_is_locked_by_hash(folder: str) -> None:
    lock = json.loads((ROOT / folder / "package-lock.json").read_text("utf-8"))
    packages = {name: one for name, one in lock["packages"].items() if name}
    assert packages
    for name, package in packages.items():
        if package.get("link"):
            continue
        assert package["integrity"].startswith("sha512-"), name
        registry = "https://registry.npmjs.org/"
        assert package.get("resolved", registry).startswith(registry), name
    wanted = json.loads((ROOT / folder / "package.json").read_text("utf-8"))
    for group in ("dependencies", "devDependencies"):
        assert lock["packages"][""].get(group) == wanted.get(group)


def test_ci_installs_what_is_locked_and_asks_the_advisories() -> None:
    ci = (ROOT / ".ci/run").read_text("utf-8")
    assert "python3 .ci/audit.py" in ci
    # Before the first command of uv's.
    assert "\nexport UV_LOCKED=1\n" in ci.partition("uv run")[0]
    audit = (ROOT / ".ci/audit.py").read_text("utf-8")
    assert re.search(r'"pip-audit@\d+\.\d+\.\d+"', audit)
    assert "--all-extras --all-groups" in audit
    installers = "".join(p.read_text("utf-8") for p in (ROOT / "tests/editors").glob("install*"))
    assert "npm ci" in installers


@pytest.fixture(scope="module")
def audit() -> ModuleType:
    found = importlib.util.spec_from_file_location("ci_audit", ROOT / ".ci/audit.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    # A dataclass looks its module up.
    sys.modules["ci_audit"] = module
    found.loader.exec_module(module)
    return module


def answer(**package: Any) -> str:
    known = {"name": "good", "version": "1", "vulns": []}
    unknown = {"name": "new", "skip_reason": "Dependency not found on PyPI"}
    return json.dumps({"dependencies": [known, unknown, package]})


BAD = {"name": "bad", "version": "2", "vulns": [{"id": "PYSEC-1", "fix_versions": ["3"]}]}


def test_a_vulnerability_is_told_and_refused(audit: ModuleType) -> None:
    found = audit.read_python(answer(**BAD))
    assert audit.refused(found) == [("PYSEC-1", "bad 2", "fixed in 3")]
    assert audit.told(found) == [
        "audit of uv.lock: 2 packages asked about, 1 unknown to the advisories here",
        "  bad 2: PYSEC-1, fixed in 3",
    ]


def test_one_that_is_justified_is_told_with_the_reason(
    audit: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "ALLOWED", {"PYSEC-1": "we never call it"})
    found = audit.read_python(answer(**BAD))
    assert audit.refused(found) == []
    assert audit.told(found)[1] == "  bad 2: PYSEC-1, allowed: we never call it"


def test_advisories_that_cannot_be_reached_are_said_and_fail_nothing(audit: ModuleType) -> None:
    nothing = {"dependencies": [{"name": "new", "skip_reason": "Dependency not found on PyPI"}]}
    for found, why in (
        (audit.read_python(""), "gave no answer"),
        (audit.read_python(json.dumps(nothing)), "none of 1 packages is known to the index"),
        (audit.read_npm("x", '{"message": "405 Method Not Allowed"}'), "405 Method Not Allowed"),
        (audit.read_npm("x", "no json"), "gave no answer"),
    ):
        assert audit.refused(found) == []
        [line] = audit.told(found)
        assert "not asked" in line
        assert why in line


def test_what_npm_finds_is_told_and_refused(audit: ModuleType) -> None:
    via = {"url": "https://github.com/advisories/GHSA-x", "title": "Prototype pollution"}
    given = {
        "vulnerabilities": {"bad": {"via": [via]}, "above": {"via": ["bad"]}},
        "metadata": {"dependencies": {"total": 358}},
    }
    found = audit.read_npm("editors/vscode", json.dumps(given))
    assert audit.refused(found) == [
        ("https://github.com/advisories/GHSA-x", "bad", "Prototype pollution")
    ]
    assert audit.told(found)[0].endswith("358 packages asked about")

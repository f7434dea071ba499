"""What an error says to type for a missing extra, in each kind of installation."""

import json
import shlex
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest

from sidecar.extras import adding


@pytest.mark.parametrize(
    ("requirements", "command"),
    [
        ('[{ name = "sidecard" }]', "'sidecard[gemini]'"),
        (
            '[{ name = "sidecard", extras = ["openai", "gemini"], specifier = ">=0.1" }]',
            "'sidecard[gemini,openai]'",
        ),
        ('[{ name = "sidecard", directory = "/a b" }]', "'/a b[gemini]'"),
        ('[{ name = "sidecard", editable = "/c" }]', "--editable '/c[gemini]'"),
        (
            '[{ name = "sidecard", path = "/d.whl" },'
            ' { name = "sidecard-client", path = "/e.whl" }, { name = "own", specifier = ">1" }]',
            "--with /e.whl --with 'own>1' '/d.whl[gemini]'",
        ),
    ],
)
def test_a_tool_of_uv_is_made_anew_as_it_was(
    requirements: str, command: str, tmp_path: Path
) -> None:
    (tmp_path / "uv-receipt.toml").write_text(f"[tool]\nrequirements = {requirements}\n")
    assert adding("gemini", str(tmp_path)) == f"uv tool install --force {command}"


@pytest.mark.parametrize(
    ("spec", "command"),
    [
        ("sidecard", "'sidecard[gemini]'"),
        ("sidecard[keyring]", "'sidecard[gemini,keyring]'"),
        ("/a b", "'/a b[gemini]'"),
    ],
)
def test_one_of_pipx_too(spec: str, command: str, tmp_path: Path) -> None:
    about = {"main_package": {"package_or_url": spec}}
    (tmp_path / "pipx_metadata.json").write_text(json.dumps(about))
    assert adding("gemini", str(tmp_path)) == f"pipx install --force {command}"


@pytest.mark.parametrize("torn", ["", "[tool", "[tool]\nrequirements = [{}]"])
def test_elsewhere_and_where_a_record_cannot_be_read_it_is_pip_by_its_python(
    torn: str, tmp_path: Path
) -> None:
    (tmp_path / "uv-receipt.toml").write_text(torn)
    words = shlex.split(adding("gemini", str(tmp_path)))
    assert "pip" in words
    assert sys.executable in words
    told = json.loads(distribution("sidecard").read_text("direct_url.json") or "{}")
    assert told["dir_info"] == {"editable": True}
    assert words[-2:] == ["--editable", f"{Path(__file__).parent.parent}[gemini]"]

"""`sidecar config`: origins by layer and line, nothing secret, a file that can be begun with."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from sidecar.commands.config_command import check, init, show
from sidecar.config.document import HIDDEN, public
from sidecar.config.loading import user_file
from sidecar.config.settings import SETTINGS
from sidecar.workspace.trust import trust

KEY = "sk-ant-very-secret-key-0123456789"
TRUSTS = json.dumps({"workspaceTrusted": True, "keepAlive": True})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace with a file of settings, and a user's one elsewhere."""
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "SIDECAR_LOG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("SIDECAR_DATA_DIR", str(tmp_path / "data"))
    workspace = tmp_path / "workspace"
    (workspace / ".sidecar").mkdir(parents=True)
    (workspace / ".sidecar/config.toml").write_text(
        'window = 5000\n[provider]\nbase_url = "http://evil"\n[permissions]\nreject = ["shell"]\n'
    )
    return workspace


def write_user(text: str) -> Path:
    user_file().parent.mkdir(parents=True, exist_ok=True)
    user_file().write_text(text)
    return user_file()


def shown(folder: Path, capsys: pytest.CaptureFixture[str], options: str = TRUSTS) -> dict:
    show(folder, options, origin=True, as_json=True)
    return json.loads(capsys.readouterr().out)


def test_each_value_says_where_it_was_given(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    path = write_user('\nmodel = "m"\n[permissions]\nallow = [\n"a",\n]\nreject = ["b"]\n')
    found = shown(folder, capsys)
    assert set(found) == set(SETTINGS)
    workspace = folder / ".sidecar/config.toml"
    assert found["model"] == {
        "value": "m",
        "default": "offline",
        "origin": [{"layer": "user", "at": f"{path}:2"}],
        "applies": "session",
    }
    assert found["window"]["origin"] == [{"layer": "workspace", "at": f"{workspace}:1"}]
    assert found["permissions.allow"]["origin"] == [{"layer": "user", "at": f"{path}:4"}]
    assert found["permissions.reject"]["value"] == ["b", "shell"]
    assert found["permissions.reject"]["origin"] == [
        {"layer": "user", "at": f"{path}:7"},
        {"layer": "workspace", "at": f"{workspace}:5"},
    ]
    assert found["provider.api_key"]["origin"] == [
        {"layer": "environment", "at": "ANTHROPIC_API_KEY"}
    ]
    assert found["keep_alive"]["origin"] == [
        {"layer": "client", "at": "initializationOptions.keepAlive"}
    ]
    assert found["policy"]["origin"] == [{"layer": "default", "at": ""}]
    assert found["provider.base_url"]["value"] == ""


def test_no_secret_is_shown_in_any_form(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    write_user(
        'summary_model = "sk-ant-api03-a8Xk29Lq0pZ7vB3wN5cT6"\n'
        '[provider]\nbase_url = "https://name:hunter2@proxy.test"\n'
        '[mcp_servers.docs]\ncommand = "docs"\nargs = ["--token=hunter2"]\nenv = {K = "hunter2"}\n'
    )
    for as_json in (True, False):
        show(folder, TRUSTS, origin=True, as_json=as_json)
        out = "".join(capsys.readouterr())
        assert KEY not in out
        assert "hunter2" not in out
        assert "a8Xk29Lq0" not in out
        assert HIDDEN in out
        assert "proxy.test" in out
        assert "docs" in out


def test_a_password_in_an_address_is_left_out() -> None:
    assert public("http://u:p@x.test/y@z") == "http://[redacted]@x.test/y@z"
    assert public("http://x.test/a@b") == "http://x.test/a@b"


def test_check_says_line_key_and_what_was_meant(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_user("max_steps = 3\n[retry]\n\nattemps = 3\n")
    assert check(folder) == 1
    out = capsys.readouterr().out
    meant = "retry.attemps: is not a setting. Did you mean `retry.attempts`?"
    assert f"{path}:4: {meant}" in out
    assert "is not read: this folder is not trusted" in out


def test_check_reads_the_file_of_a_folder_that_was_trusted_for_always(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trust(tmp_path / "data", folder)
    assert check(folder) == 1
    out = capsys.readouterr().out
    assert f"{folder}/.sidecar/config.toml:3: provider.base_url: a workspace may not set" in out


def test_check_tells_of_a_key_that_others_can_read(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_user('[provider]\napi_key = "k"\n')
    path.chmod(0o644)
    assert check(folder) == 1
    assert f"chmod 600 {path}" in capsys.readouterr().out
    path.chmod(0o600)
    assert check(folder) == 0
    write_user("max_steps = 3\n").chmod(0o644)
    assert check(folder) == 0


def test_a_broken_file_says_where_it_breaks(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_user('model = "m"\nwindow = \n')
    assert check(folder) == 1
    out = capsys.readouterr().out
    assert out.startswith(f"{path}: cannot be read: ")
    assert "line 2" in out


def test_init_writes_a_file_once_that_only_its_owner_reads(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = os.umask(0)
    try:
        assert init(overwrite=False) == 0
    finally:
        os.umask(before)
    assert stat.S_IMODE(user_file().stat().st_mode) == 0o600
    assert check(folder) == 0
    user_file().write_text("model = 'm'\n")
    assert init(overwrite=False) == 1
    assert user_file().read_text() == "model = 'm'\n"
    assert init(overwrite=True) == 0
    assert "# max_steps = 200" in user_file().read_text()


@pytest.mark.parametrize("options", ["{", "[]"])
def test_options_that_are_no_table_are_refused(
    folder: Path, options: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert show(folder, options, origin=True, as_json=False) == 2
    assert "--options" in capsys.readouterr().err


@pytest.mark.parametrize("as_json", [True, False])
def test_half_a_letter_can_be_printed(folder: Path, as_json: bool) -> None:
    options = json.dumps({"model": "half \ud800 a letter"})
    command = [sys.executable, "-m", "sidecar", "config", "show", "--options", options]
    more = ["--json"] if as_json else []
    done = subprocess.run([*command, *more], capture_output=True, check=True, timeout=60)
    assert b"a letter" in done.stdout


def test_the_file_is_named(folder: Path) -> None:
    path = write_user("max_steps = 7\n")
    command = [sys.executable, "-m", "sidecar", "config", "show", "--origin", "--cwd", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    [line] = [line for line in done.stdout.splitlines() if line.startswith("max_steps")]
    assert line.split() == ["max_steps", "7", "user", f"{path}:1"]

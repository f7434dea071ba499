"""What a child process is told of the environment."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sidecar.workspace.variables import (
    for_git,
    path_apart,
    shed_import_paths,
    without_secrets,
)

SHAPED = (
    "shpat_" + "0a" * 16,
    "figd_" + "aB3_-x" * 7,
    "lin_api_" + "aB3x" * 10,
    "ntn_" + "123456" + "aB3x" * 10,
    "nvapi-" + "aB3_-x" * 11,
    "dapi" + "0a" * 16,
    "dapi" + "0a" * 16 + "-2",
    "hvs." + "CAESI" + "aB3_-x" * 8,
    "AGE-SECRET-KEY-1" + "QZ7" * 19 + "Q",
)
KEY = "sk-ant-api03-0123456789"


def test_a_key_goes_under_whatever_name_it_is_held() -> None:
    given = {
        "ANTHROPIC_API_KEY": KEY,
        "COPY": KEY,
        "AS_HEADER": f"x-api-key: {KEY}",
        "PATH": "/bin",
        "SSH_AUTH_SOCK": "/run/agent",
        "MONKEY": "yes",
    }
    kept = {"PATH": "/bin", "SSH_AUTH_SOCK": "/run/agent", "MONKEY": "yes"}
    assert without_secrets(given) == kept


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OPENAI_API_KEYS", "correct horse"),
        ("OPENAI_API_KEY_2", "correct horse"),
        ("openaiApiKey", "correct horse"),
        ("GH_TOKEN_1", "correct horse"),
        ("npm_config_//registry.npmjs.org/:_authToken", "correct horse"),
        ("NPM_CONFIG__AUTH", "Y29ycmVjdDpob3JzZQ=="),
        ("DOCKER_AUTH_CONFIG", "{}"),
        ("DB_PASS", "correct horse"),
        ("MINE", f"ghp_{'a1' * 20}"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer correct0horse1battery"),
        ("DEPLOY", "-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----"),
        ("DEPLOY", "-----BEGIN EC PRIVATE KEY-----\\nMII+/=\\n-----END EC PRIVATE KEY-----"),
        ("DEPLOY", "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAA"),
        ("BW_SESSION", "correct horse"),
        ("OP_SESSION_my", "correct horse"),
        ("TF_TOKEN_app_terraform_io", "correct horse"),
        ("SSHPASS", "correct horse"),
        ("REDISCLI_AUTH", "correct horse"),
        ("SNOWSQL_PWD", "correct horse"),
        ("SYSTEM_ACCESSTOKEN", "correct horse"),
        ("AZURE_STORAGE_CONNECTION_STRING", "BlobEndpoint=https://x/;SharedAccessSignature=sv=1"),
        ("STORAGE", f"DefaultEndpointsProtocol=https;AccountKey={'aB3x' * 21}==;A=b"),
        ("BUNDLE_GEMS__EXAMPLE__COM", "correct:horse"),
        ("BUNDLE_ENTERPRISE__EXAMPLE___ONE__COM", "0a1b2c3d:4e5f6a7b"),
        *(("MINE", key) for key in SHAPED),
    ],
)
def test_a_key_goes_by_its_shape_or_by_what_its_name_holds(name: str, value: str) -> None:
    assert without_secrets({name: value}) == {}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LLM_MAX_TOKENS", "4096"),
        ("DATABASE_URL", "postgres://me:correct@localhost/test"),
        ("HTTPS_PROXY", "http://me:correct@proxy:3128"),
        ("GIT_CONFIG_KEY_0", "user.name"),
        ("COMPASS", "north"),
        ("BYPASS_CACHE", "yes"),
        ("USE_AUTH", "yes"),
        ("API_KEY_HEADER", "x-api-key"),
        ("XDG_SESSION_ID", "3"),
        ("DESKTOP_SESSION", "gnome"),
        ("SESSION_MANAGER", "local/host:@/tmp/.ICE-unix/1,unix/host:/tmp/.ICE-unix/1"),
        ("OLDPWD", "/home/someone"),
        ("SNOWSQL_USER", "someone"),
        ("TF_VAR_region", "eu"),
        ("TF_PLUGIN_CACHE_DIR", "/home/someone/.terraform.d"),
        ("BUNDLE_GEMFILE", "/home/someone/app/Gemfile"),
        ("BUNDLE_BUILD__NOKOGIRI", "--with-x=a:b"),
        ("BUNDLE_LOCAL__RACK", "/home/someone/a:b"),
        ("BUNDLE_MIRROR__RUBYGEMS__ORG", "localhost:9292"),
        ("BUNDLE_PATH__SYSTEM", "true"),
        ("CONNECTION_STRING", "UseDevelopmentStorage=true"),
        ("MONGO_CONNECTION_STRING", "mongodb://localhost/test"),
        ("LESSONS", "hvs.md, nvapi-x, figd_1, lin_api_docs, ntn_x, dapi0, shpat_ab"),
        ("COMMIT", "9fceb02d0ae598e95dc970b74767f19372d61af8"),
        ("IMAGE", f"sandapi{'0a' * 16}"),
        ("CERTIFICATE", "-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----"),
        ("PUBLIC", "-----BEGIN PUBLIC KEY-----\nMII\n-----END PUBLIC KEY-----"),
    ],
)
def test_what_commands_work_with_stays(name: str, value: str) -> None:
    assert without_secrets({name: value}) == {name: value}


def test_a_short_value_takes_nothing_else_along() -> None:
    """A token that is a word would take every variable in which that word stands."""
    assert without_secrets({"X_TOKEN": "bin", "PATH": "/bin"}) == {"PATH": "/bin"}
    assert without_secrets({"X_TOKEN": "", "PATH": "/bin"}) == {"PATH": "/bin"}


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@pytest.mark.parametrize(
    ("setting", "value"),
    [("safe.bareRepository", "explicit"), ("core.fsmonitor", "false"), ("user.name", "me")],
)
def test_git_is_told_what_no_folder_may_tell_it(setting: str, value: str, tmp_path: Path) -> None:
    given = {"GIT_CONFIG_COUNT": "2", "GIT_CONFIG_KEY_0": "user.name", "GIT_CONFIG_VALUE_0": "me"}
    given |= {"GIT_CONFIG_KEY_1": "core.fsmonitor", "GIT_CONFIG_VALUE_1": "./run"}
    said = subprocess.run(
        ["git", "config", setting],
        cwd=tmp_path,
        env=for_git({"PATH": os.environ["PATH"], "HOME": str(tmp_path), **given}),
        capture_output=True,
        text=True,
        check=True,
        timeout=20,
    )
    assert said.stdout.strip() == value


def test_no_folder_of_a_workspace_is_imported_from_however_it_came(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, python = str(Path(__file__).parents[2]), f"{sys.base_prefix}/lib"
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "ws")
    given = [own, f"{tmp_path}/ws/src", str(link), f"{tmp_path}/ws", f"{tmp_path}/other", python]
    monkeypatch.setattr(sys, "path", given)
    kept = [own, f"{tmp_path}/other", python]
    shed_import_paths(tmp_path / "ws")
    assert sys.path == kept
    # What holds Sidecar and Python stays, whatever the workspace holds.
    shed_import_paths(Path("/"))
    assert sys.path == [own, python]


def test_a_path_apart_has_nothing_of_a_workspace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "ws")
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws/out").symlink_to(tmp_path / "elsewhere")
    inside = [f"{tmp_path}/ws/bin", f"{tmp_path}/link", f"{tmp_path}/ws/out"]
    (tmp_path / "chain").symlink_to(tmp_path / "ws/out")
    inside += [f"{tmp_path}/link/out", f"{tmp_path}/chain", f"{tmp_path}/chain/bin"]
    apart = [f"{tmp_path}/bin", "/usr/bin"]
    given = {"PATH": os.pathsep.join(["", "bin", *inside, *apart])}
    assert path_apart(given, tmp_path / "ws") == os.pathsep.join(apart)
    # A home folder's programs are the user's.
    monkeypatch.setenv("HOME", str(tmp_path))
    given = {"PATH": os.pathsep.join(["bin", *apart])}
    assert path_apart(given, tmp_path) == os.pathsep.join(apart)

"""`sidecar replay` without arguments, in a home of its own."""

import json
from pathlib import Path

import pytest

from tests.commands.replay.test_replay_command import run
from tests.replay.neutral_files import recording

pytestmark = pytest.mark.long

AGENTS = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME")


def test_without_arguments_agents_own_folders_are_replayed(tmp_path: Path) -> None:
    home = {**dict.fromkeys(AGENTS, ""), "HOME": str(tmp_path)}
    done = run(**home)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "sidecar replay: no folder of Claude Code, Codex, pi or opencode is here: give one\n"
    )
    folder = tmp_path / ".codex/sessions"
    folder.mkdir(parents=True)
    done = run(**home)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"looking in {folder}\nsidecar replay: there is no recording in {folder}" in done.stderr
    recording(folder / "one.jsonl")
    done = run("--json", **home)
    assert (done.returncode, done.stderr) == (0, f"looking in {folder}\n")
    assert [one["session"] for one in json.loads(done.stdout)["sessions"]] == ["one"]

"""`sidecar doctor`: what it says of snapshots."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sidecar.commands.upkeep.doctor import MOST_FOLDERS, snapshots, travels_in_the_open
from sidecar.commands.upkeep.doctor_sizes import MIB
from sidecar.store.content.chains import HeldSpace

NOON = 1_764_000_000_000


def test_what_snapshots_take_and_who_holds_the_most() -> None:
    held = [
        HeldSpace(b"/w/small", 2, 2048, NOON),
        HeldSpace(b"/w/[large]\x1b", 7, 3 * MIB // 2, NOON),
    ]
    whole, large, small = snapshots(held, limit=10 * MIB)
    assert (whole.state, whole.found) == ("ok", "1.5 MiB of 2 folders")
    assert large.found.startswith("/w/[large]␛, 1.5 MiB in 7 snapshots since 2025-11-")
    assert small.found.startswith("/w/small, 2 KiB in 2 snapshots since ")
    assert not large.advice


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("http://proxy.test/v1", True),
        ("http://10.0.0.5:11434", True),
        ("https://proxy.test", False),
        ("http://localhost:11434", False),
        ("http://127.0.0.1:8080", False),
        ("http://[::1]:8080", False),
    ],
)
def test_a_key_that_everybody_on_the_way_can_read_is_told(address: str, expected: bool) -> None:
    assert travels_in_the_open(address) is expected


def test_a_folder_at_its_limit_is_told() -> None:
    _, full = snapshots([HeldSpace(b"/w", 2, 10 * MIB, NOON)], limit=10 * MIB)
    assert (full.state, full.advice) == (
        "note",
        "at most 10.0 MiB are kept, the oldest go first: set snapshots.workspace_mib",
    )


def test_names_that_are_no_text_and_many_folders() -> None:
    held = [HeldSpace(os.fsencode("/w/") + b"\xff", 1, n, NOON) for n in range(MOST_FOLDERS + 3)]
    found = snapshots(held)
    assert len(found) == 1 + MOST_FOLDERS
    "".join(one.found for one in found).encode()
    assert snapshots([])[0].found == "none yet"


def doctor(tmp_path: Path, text: str) -> str:
    settings = tmp_path / "sidecar" / "config.toml"
    settings.parent.mkdir()
    settings.write_text(text)
    clean = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    told = subprocess.run(
        [sys.executable, "-m", "sidecar", "doctor"],
        env={
            **clean,
            **dict.fromkeys(("XDG_CONFIG_HOME", "XDG_DATA_HOME"), str(tmp_path)),
            "COLUMNS": "300",
        },
        check=False,
        capture_output=True,
        text=True,
    ).stdout
    return " ".join(told.split())


def test_a_cloud_that_is_the_usual_provider_is_told_with_what_it_lacks(tmp_path: Path) -> None:
    said = doctor(tmp_path, 'model = "claude-opus-5-5"\n[provider]\nname = "vertex"\n')
    assert "claude-opus-5-5 set CLOUD_ML_REGION" in said
    assert "ANTHROPIC_API_KEY" not in said


def test_named_providers_are_told_with_what_they_lack(tmp_path: Path) -> None:
    said = doctor(
        tmp_path,
        'model = "work/gpt-5.5"\n[providers.work]\nkind = "openai"\napi_key = "env:WORK_KEY"\n'
        '[providers.lab]\nkind = "vllm"\nbase_url = "http://gpu.example.org:8000/v1"\n'
        '[providers.far]\nkind = "openai"\nbase_url = "http://far.example.org/v1"\napi_key = "k"\n',
    )
    assert "work/gpt-5.5" in said
    assert "set OPENAI_API_KEY" in said
    assert "lab/… by vllm at http://gpu.example.org:8000/v1" in said
    assert "the key goes over the network for everybody to read" in said

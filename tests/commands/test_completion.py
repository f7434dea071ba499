"""What `sidecar completion` prints, in the shells that are installed."""

import shutil
import subprocess
from pathlib import Path

import pytest
import typer.main

from sidecar.commands.command_line import commands
from sidecar.commands.completion import script

IDS = "ses_01abc\tFix it: “now”\nses_02def\tLook (twice)\n"
"""What stands for the sessions of a store."""
CASES = (
    ("sidecar rep", "replay report"),
    ("sidecar config ", "check init show"),
    ("sidecar restore --sc", "--scope"),
    ("sidecar restore ses_01abc --scope ", "both conversation files"),
    ("sidecar inspect ses_01", "ses_01abc"),
    ("sidecar delete ses_01abc ses_02", "ses_02def"),
    ("sidecar config show --or", "--origin"),
    ("sidecar import --format co", "codex"),
    ("sidecar completion z", "zsh"),
    ("sidecar import recorded", "recorded.jsonl"),
    ("sidecar replay --html recorded", "recorded.jsonl"),
)

BASH = """
source ./sidecar.bash
COMP_LINE=$1 COMP_POINT=${#1}
read -ra COMP_WORDS <<< "$1"
[[ $1 == *" " ]] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
compopt() { files=1; }
_sidecar
if [[ ${files:-} && ${#COMPREPLY[@]} == 0 ]]; then
  COMPREPLY=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}"))
fi
printf '%s\\n' "${COMPREPLY[@]}"
"""
ZSH = """
compdef() { :; }
_describe() { local -a all; all=(${(P)2}); offered+=(${all%%:*}); }
compadd() { while [[ $1 == -(a|-) ]]; do
  [[ $1 == -a ]] && { shift; set -- ${(P)1}; break; }; shift; done; offered+=($@); }
_files() { offered+=(*(N)); }
source ./sidecar.zsh
words=(${(z)1}); [[ $1 == *" " ]] && words+=("")
CURRENT=$#words
offered=(); _sidecar
print -l -- ${(M)offered:#${words[CURRENT]}*}
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with the scripts, a recording, and a `sidecar` that only lists sessions."""
    for shell in ("bash", "zsh", "fish"):
        made = script(shell, typer.main.get_command(commands()))
        (tmp_path / f"sidecar.{shell}").write_text(made)
    (tmp_path / "recorded.jsonl").touch()
    (tmp_path / "bin").mkdir()
    fake = tmp_path / "bin/sidecar"
    (tmp_path / "ids").write_text(IDS)
    fake.write_text(f"#!/bin/sh\n[ \"$2\" = --ids ] && exec cat '{tmp_path}/ids'\n")
    fake.chmod(0o755)
    return tmp_path


def offered(place: Path, shell: str, line: str) -> str:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    command = {
        "bash": ["bash", "--norc", "-c", BASH, "bash", line],
        "zsh": ["zsh", "-f", "-c", ZSH, "zsh", line],
        "fish": ["fish", "--no-config", "-c", f"source ./sidecar.fish; complete -C '{line}'"],
    }[shell]
    path = f"{place / 'bin'}:{Path(str(shutil.which(shell))).parent}:/usr/bin:/bin"
    done = subprocess.run(
        command,
        cwd=place,
        env={"PATH": path, "HOME": str(place), "LC_ALL": "C.UTF-8", "TERM": "dumb"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stderr == ""
    return " ".join(sorted(word.partition("\t")[0] for word in done.stdout.splitlines() if word))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize(("line", "expected"), CASES)
def test_a_shell_offers_what_may_come_next(
    place: Path, shell: str, line: str, expected: str
) -> None:
    assert offered(place, shell, line) == expected

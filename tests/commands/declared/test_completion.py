"""What `sidecar completion` prints, in the shells that are installed."""

import asyncio
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sidecar.commands.declared.completion import script
from sidecar.core.parts import SessionId
from sidecar.store.format.values import PutSession, SessionRow
from sidecar.store.journal import Store

TITLES = {
    "ses_01abc": "Fix it: “now”",
    "ses_02def": "Look (twice)",
    "ses_03": "\\\\$(touch pwned)\\`touch pwned`\"'; touch pwned #",
}
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
read -ra COMP_WORDS <<< "$1"
[[ $1 == *" " ]] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_sidecar_completion sidecar
[[ $(complete -p sidecar) == *"-o default"* && ${#COMPREPLY[@]} == 0 ]] &&
  COMPREPLY=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}"))
printf '%s\\n' "${COMPREPLY[@]}"
"""
ZSH = """
compdef() { :; }
_arguments() {
  local -a all; local before='*: :('; eval "all=${${1#$before}%)}"; offered+=(${all%%:*})
}
_files() { offered+=(*(N)); }
source ./sidecar.zsh
words=(${(z)1}); [[ $1 == *" " ]] && words+=("")
CURRENT=$#words
offered=(); _sidecar_completion
print -l -- ${(M)offered:#${words[CURRENT]}*}
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the scripts, a recording, the command, and a store with sessions."""
    folder = tmp_path_factory.mktemp("place")
    for shell in ("bash", "zsh", "fish"):
        (folder / f"sidecar.{shell}").write_text(script(shell))
    (folder / "recorded.jsonl").touch()
    (folder / "bin").mkdir()
    command = folder / "bin/sidecar"
    command.write_text(f"#!{sys.executable} -P\nfrom sidecar.cli import main\nmain()\n")
    command.chmod(0o755)
    asyncio.run(keep(folder / "data"))
    return folder


async def keep(data: Path) -> None:
    store = Store.open(data, now=lambda: 1_000)
    for session, title in TITLES.items():
        row = SessionRow(SessionId(session), "/d", title, 1, 1, 1, 0, 0, None, {})
        await store.write(PutSession(row))
    await store.close()


def offered(place: Path, shell: str, line: str) -> list[str]:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    command = {
        "bash": ["bash", "--norc", "-c", BASH, "bash", line],
        "zsh": ["zsh", "-f", "-c", ZSH, "zsh", line],
        "fish": ["fish", "--no-config", "-c", f"source ./sidecar.fish; complete -C '{line}'"],
    }[shell]
    path = f"{place / 'bin'}:{Path(str(shutil.which(shell))).parent}:/usr/bin:/bin"
    kept = {"HOME": str(place), "SIDECAR_DATA_DIR": str(place / "data")}
    done = subprocess.run(
        command,
        cwd=place,
        env={"PATH": path, "LC_ALL": "C.UTF-8", "TERM": "dumb", **kept},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stderr == ""
    return sorted(filter(None, done.stdout.splitlines()))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize(("line", "expected"), CASES)
def test_a_shell_offers_what_may_come_next(
    place: Path, shell: str, line: str, expected: str
) -> None:
    found = offered(place, shell, line)
    assert " ".join(word.partition("\t")[0] for word in found) == expected


@pytest.mark.parametrize(
    ("shell", "expected"),
    [("bash", ""), ("zsh", ""), ("fish", "\ttouch pwnedtouch pwned touch pwned ")],
)
def test_a_title_has_nothing_that_a_shell_gives_a_meaning(
    place: Path, shell: str, expected: str
) -> None:
    assert offered(place, shell, "sidecar inspect ses_03") == [f"ses_03{expected}"]
    assert not (place / "pwned").exists()

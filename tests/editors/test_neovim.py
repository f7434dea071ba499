"""Real Neovim, old and new: a user's day is played in it, without a screen and on one."""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.editors.installed import EDITORS, HERE, ROOT
from tests.editors.terminal import Terminal
from tests.editors.workspaces import lay_out, lay_trap

pytestmark = pytest.mark.long

PLUGIN = ROOT / "editors/neovim"
VIEWS = {
    "asking.lua",
    "chat.lua",
    "composer.lua",
    "health.lua",
    "markdown.lua",
    "meter.lua",
    "remotes.lua",
    "review.lua",
    "rollback.lua",
    "search.lua",
    "unseen.lua",
    "view.lua",
}
"""What draws and asks; everything else is counted."""
LIMIT = 240.0
GREEN = "5faf5f"
"""The zone's colour of 256."""


PROGRAMS = {
    "debian": (shutil.which("nvim") or "", "there is no nvim on PATH"),
    "newer": (
        shutil.which(EDITORS / "neovim/nvim") or "",
        "there is no newer Neovim: tests/editors/install_neovim.sh installs it",
    ),
}


def installed(version: str) -> str:
    """Give Neovim's program of a version; the test is skipped where there is none."""
    program, reason = PROGRAMS[version]
    if not program:
        pytest.skip(reason)
    return program


@pytest.fixture(params=PROGRAMS)
def nvim(request: pytest.FixtureRequest) -> str:
    """Neovim's program, of each version that is installed."""
    return installed(request.param)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return lay_out(tmp_path, lines=700)


def surroundings(folder: Path, *, shared: bool = False) -> dict[str, str]:
    """Give an environment in which nothing of this machine's user counts."""
    run = folder.parent / "run"
    run.mkdir(mode=0o700, exist_ok=True)
    sharing = {"CI": "false", "SIDECAR_LINGER": "2", "XDG_RUNTIME_DIR": str(run)}
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("ANTHROPIC_", "XDG_"))}
    return {
        **clean,
        "HOME": str(folder.parent / "home"),
        "LC_ALL": "C.UTF-8",
        "PYTHONPATH": f"{ROOT}:{ROOT / 'clients/python/src'}",
        "SIDECAR_DATA_DIR": str(folder.parent / "data"),
        "SIDECAR_OFFLINE_PACE": "0.01",
        "SIDECAR_PLUGIN": str(PLUGIN),
        "SIDECAR_PYTHON": sys.executable,
        "SIDECAR_SCENARIO": str(HERE / "neovim"),
        **(sharing if shared else {}),
    }


def play(nvim: str, folder: Path, scenario: str, *, shared: bool = False) -> str:
    """Play a scenario without a screen; gives what it wrote."""
    played = subprocess.run(
        [
            nvim,
            "--headless",
            "-u",
            "NONE",
            "-i",
            "NONE",
            "-n",
            "-S",
            str(HERE / "neovim" / scenario),
        ],
        cwd=folder,
        env=surroundings(folder, shared=shared),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    assert played.returncode == 0, played.stdout + played.stderr
    return played.stdout


@contextmanager
def on_a_screen(nvim: str, folder: Path) -> Iterator[Terminal]:
    """Give Neovim on a terminal, with the plugin's meter and a file open; it ends well."""
    command = [nvim, "-u", "NONE", "-i", "NONE", "-n", "-S", str(HERE / "neovim/screen.lua")]
    terminal = Terminal([*command, "main.py"], folder, surroundings(folder))
    terminal.wait("/52k")
    yield terminal
    terminal.type(":qa!\r")
    assert terminal.end() == 0


def go_to_the_chat(screen: Terminal) -> None:
    """Open the chat: the window below it is in Insert mode."""
    screen.type(":Sidecar\r")
    screen.wait("<C-s> sends")


@pytest.fixture
def screen(nvim: str, workspace: Path) -> Iterator[Terminal]:
    with on_a_screen(nvim, workspace) as terminal:
        yield terminal


def test_the_plugin_is_thin() -> None:
    files = [path for path in PLUGIN.rglob("*.lua") if path.name not in VIEWS]
    lines = [line.strip() for path in files for line in path.read_text().splitlines()]
    assert 500 < sum(line != "" and not line.startswith("--") for line in lines) < 1000


def test_luacheck_finds_nothing() -> None:
    luacheck = shutil.which("luacheck")
    if luacheck is None:
        pytest.skip("there is no luacheck on PATH (Debian's lua-check)")
    command = [luacheck, "--no-color", "-q", "lua", "plugin"]
    checked = subprocess.run(
        command, cwd=PLUGIN, capture_output=True, text=True, timeout=LIMIT, check=False
    )
    assert checked.returncode == 0, checked.stdout


@pytest.mark.parametrize("shared", [False, True])
def test_a_day_of_work_goes_on_in_the_same_session(
    nvim: str, workspace: Path, *, shared: bool
) -> None:
    session = play(nvim, workspace, "first.lua", shared=shared).strip()
    assert session.startswith("session ses_")
    assert play(nvim, workspace, "second.lua", shared=shared).strip() == session


def test_each_question_has_its_own_answer(nvim: str, workspace: Path) -> None:
    play(nvim, workspace, "questions.lua")


def test_a_question_names_its_session_and_the_folder_stays(nvim: str, workspace: Path) -> None:
    play(nvim, workspace, "folders.lua")


def test_a_turn_is_reviewed_hunk_by_hunk(nvim: str, workspace: Path) -> None:
    play(nvim, workspace, "review.lua")


def test_a_daemon_that_is_not_there_and_the_key(nvim: str, workspace: Path) -> None:
    play(nvim, workspace, "trouble.lua")


@pytest.mark.parametrize("path", [".:{}", "{}:", "bin:{}"])
def test_no_daemon_is_taken_from_the_folder_that_is_open(
    nvim: str, workspace: Path, path: str
) -> None:
    lay_trap(workspace)
    start = "lua require('sidecar').setup{cmd = {'sidecar', 'serve', '--stdio'}}"
    commands = ("edit main.py", "Sidecar chat", "sleep 300m", "qall!")
    subprocess.run(
        [nvim, "--headless", "--clean", "-n", "--cmd", f"set rtp+={PLUGIN}", "-c", start]
        + [word for one in commands for word in ("-c", one)],
        cwd=workspace,
        env={**surroundings(workspace), "PATH": path.format("/usr/bin:/bin")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=LIMIT,
        check=False,
    )
    assert not (workspace / "ran").exists()


def test_a_clone_of_the_mirror_is_a_package(nvim: str, workspace: Path) -> None:
    mirror, env = workspace.parent / "mirror", surroundings(workspace)
    package = workspace.parent / "data-home/nvim/site/pack/sidecar/start/sidecar"
    who = {
        f"GIT_{one}_{what}": "a@b" for one in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    for command in (
        [ROOT / ".ci/neovim_mirror.sh", mirror],
        [ROOT / ".ci/neovim_mirror.sh", mirror],
        ["git", "clone", "-q", mirror, package],
    ):
        subprocess.run(command, env={**env, **who}, check=True, timeout=LIMIT)
    lua = """
      local found = vim.fn.exists(":Sidecar") == 2 and pcall(vim.cmd, "help sidecar-maps")
      require("sidecar").setup({ autostart = false })
      io.stdout:write(tostring(found), " ", require("sidecar").statusline())
      vim.cmd("qall!")
    """
    (workspace / "init.lua").write_text(lua)
    started = subprocess.run(
        [nvim, "--headless", "-i", "NONE", "-n", "-c", "luafile init.lua"],
        cwd=workspace,
        env={**env, "XDG_DATA_HOME": str(workspace.parent / "data-home")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    assert started.stdout == "true sidecar off", started.stderr
    log = ["git", "-C", mirror, "log", "--oneline"]
    assert len(subprocess.check_output(log, timeout=LIMIT).splitlines()) == 1
    assert {"LICENSE", "README.md", "doc", "lua", "plugin"} <= {
        one.name for one in mirror.iterdir()
    }


def test_health_is_checked_and_help_is_found(nvim: str, workspace: Path) -> None:
    play(nvim, workspace, "health.lua")


def test_the_meter_is_a_component_of_others_statuslines(nvim: str, workspace: Path) -> None:
    play(nvim, workspace, "statuslines.lua")


def test_a_day_on_a_screen(screen: Terminal, workspace: Path) -> None:
    assert screen.colours("/52k") == {GREEN}
    go_to_the_chat(screen)
    screen.type("replace `Hello` with `Good day` in main.py\x13")
    asked = screen.wait("4: Always reject this tool")
    sides = r'^    return "Hello, " \+ name +│    return "Good day, " \+ name$'
    assert re.search(sides, asked, re.M)
    assert "Sidecar: Edit main.py" in asked
    screen.type("1\r")
    done = screen.wait("2 requests")
    assert "✓ Edit main.py  +1 -1  ⋯" in done
    assert 'return "Good day, " + name' in done
    screen.type(":Sidecar send read long.txt then list files then read long.txt\r")
    full = percent(screen.wait("── 4 requests"))
    screen.type(":Sidecar compact\r")
    assert "tokens" in screen.wait("1: Compact now")
    screen.type("1\r")
    screen.wait(lambda text: 0 < percent(text) < full)
    (workspace / "main.py").write_text('def greet(name):\n    return "By hand, " + name\n')
    screen.type(":Sidecar rollback\r")
    listed = screen.wait("go back to")
    assert "main.py (agent)" in listed
    screen.type(f"{number(listed, 'Before “replace')}\r")
    screen.wait("3: conversation only")
    screen.type("1\r")
    preview = screen.wait("What wins?")
    assert "# ! conflicts main.py" in preview
    assert '+    return "By hand, " + name' in preview
    screen.type(f"{number(preview, 'Overwrite')}\r")
    preview = screen.wait("Go back now: 1 restored")
    screen.type("1\r")
    back = screen.wait("gone back: 1 restored")
    assert 'return "Hello, " + name' in back
    assert "replace `Hello` with `Good day` in main.py" in back
    screen.type(":Sidecar redo\r")
    screen.wait("1: Redo now")
    screen.type("1\r")
    assert 'return "By hand, " + name' in screen.wait("gone forth again")


def test_keys_of_the_users_own(screen: Terminal) -> None:
    screen.type(":autocmd FileType sidecar_message imap <buffer> <C-s> zz<Plug>(sidecar-send)\r")
    screen.type(":xmap gs <Plug>(sidecar-send)\r:nmap gc <Plug>(sidecar-chat)\rVgs")
    screen.wait("about these lines:")
    screen.type("read notes.txt\r")
    screen.type("gc")
    screen.wait("2 requests")
    screen.wait("-- INSERT --")
    screen.type("list files\x13")
    assert "list fileszz" in screen.wait(lambda text: text.count(" requests ·") == 2)


def test_answers_are_markdown_and_outputs_are_not(
    screen: Terminal, nvim: str, workspace: Path
) -> None:
    (workspace / "fence.txt").write_text("```\n")
    (workspace / "strong.txt").write_text("**strong** words\n")
    go_to_the_chat(screen)
    screen.type("read fence.txt\x13")
    screen.wait("── 2 requests")
    screen.type(":Sidecar send read strong.txt\r")
    shown = screen.wait(lambda text: text.count("── 2 requests") == 2)
    raw = nvim == PROGRAMS["debian"][0]
    assert f"read_file: {'**strong**' if raw else 'strong'} words" in shown
    screen.type("\x17kzR")
    screen.wait("    **strong** words")


def test_what_is_typed_is_not_taken_for_an_answer(screen: Terminal) -> None:
    go_to_the_chat(screen)
    screen.type("\x0f:Sidecar send replace `Hello` with `Anew` in main.py\r1\r")
    screen.wait("asks, when you have left this mode")
    screen.type("\x1b")
    screen.wait("4: Always reject this tool")
    screen.type("3\r")
    screen.wait("✗ Edit main.py")


def test_what_is_typed_in_a_terminal_is_no_answer_either(screen: Terminal) -> None:
    go_to_the_chat(screen)
    screen.type("\x1b:Sidecar send replace `Hello` with `Anew` in main.py\r:terminal cat\ri")
    screen.wait("asks, when you have left this mode")
    screen.type("1\r\x1c\x0e")
    screen.wait("4: Always reject this tool")
    screen.type("3\r")
    screen.wait("✗ Edit main.py")


def test_a_question_is_in_sight_wherever_the_chat_stands(screen: Terminal) -> None:
    go_to_the_chat(screen)
    screen.type("\x1b")
    for number in range(4):
        screen.type(f":Sidecar send read notes.txt then say {number}\r")
        screen.wait(lambda text, told=f"then say {number}": told in text and "working" not in text)
    screen.type("\x17kgg")
    screen.wait("then say 0")
    screen.type(":Sidecar send run `echo one; echo two`\r")
    assert "    echo one; echo two" in screen.wait("4: Always reject")
    screen.type("3\r")
    screen.wait(lambda text: "4: Always reject" not in text)


def test_what_was_typed_before_a_question_was_seen_is_no_answer(screen: Terminal) -> None:
    """In Normal mode, by whoever moves on in a file; Ctrl-C, too."""
    screen.type(":Sidecar! send run `echo one`\r")
    screen.wait("this would happen")
    for keys in ("2j\r", "\x03", "1\r"):
        screen.type(keys)
        time.sleep(0.05)
    shown = screen.wait("Always reject exactly this")
    screen.type(f"{number(shown, 'Reject')}\r")
    screen.wait(lambda text: "Always reject exactly this" not in text)


@pytest.mark.parametrize("keys", ["\x1b:close\r", "\x1b:resize 1\r"])
def test_answers_cover_nothing_of_what_they_allow(screen: Terminal, keys: str) -> None:
    """Where the window for messages leaves them no room, it is read in pages."""
    go_to_the_chat(screen)
    screen.type(keys)
    lines = "".join(f"echo {number}\\n" for number in range(screen.text().count("\n") - 9))
    screen.type(f':Sidecar! send call shell {{"command": "{lines}touch last"}}\r')
    shown = screen.wait("Always reject exactly this")
    assert ("1: Allow once" in shown) <= bool(re.search("^.*  touch last$", shown, re.M))
    screen.type(f"{number(shown, 'Reject')}\r")
    screen.wait(lambda text: "Always reject exactly this" not in text)


def percent(screen: str) -> int:
    """Give the meter's per cent; 0 while there is none."""
    found = re.search(r"(\d+)% · ", screen)
    return int(found[1]) if found else 0


def number(screen: str, text: str) -> str:
    """Give the number under which a text is offered."""
    return re.findall(rf"^(\d+): .*{text}", screen, re.M)[-1]


@pytest.mark.parametrize("shared", [False, True])
def test_nothing_is_started_before_it_is_needed_and_two_windows_get_along(
    nvim: str, workspace: Path, *, shared: bool
) -> None:
    play(nvim, workspace, "lazy.lua", shared=shared)

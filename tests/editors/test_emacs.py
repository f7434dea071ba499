"""Real Emacs: its plugin compiles, and a user's day is played in it, on a screen too."""

import difflib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.editors.terminal import Terminal
from tests.editors.workspaces import lay_out, lay_trap

ROOT = Path(__file__).parent.parent.parent
PLUGIN = ROOT / "editors/emacs"
FILES = sorted(path.name for path in PLUGIN.glob("*.el"))
EMACS = shutil.which("emacs") or ""
ELPA = Path("/usr/share/emacs/site-lisp/elpa-src")
LINTERS = [
    f"--directory={path}" for path in (*ELPA.glob("package-lint-*"), *ELPA.glob("let-alist-*"))
]
LIMIT = 240.0
IDLE, PROMPT = "\u25c6", "\u203a"
"""The meter's sign while no turn runs, and what stands before what the user types."""
VIEWS = (
    "chat",
    "composer",
    "context",
    "markdown",
    "menu",
    "questions",
    "remotes",
    "review",
    "search",
    "unseen",
    "visible",
)
"""What draws and asks; the rest is counted."""
MCP = f'(:command "{sys.executable}" :args ["{ROOT / "tests/fakes/mcp_server.py"}"])'
OPTIONS = (
    '(:model "offline" :workspaceTrusted t :permissions (:allow ["edit"])'
    f" :mcpServers (:notes {MCP}))"
)

pytestmark = [pytest.mark.long, pytest.mark.skipif(not EMACS, reason="there is no emacs on PATH")]


def environment(folder: Path, *, shared: bool = False) -> dict[str, str]:
    """Give what Emacs and the daemon are started with."""
    run = folder.parent / "run"
    run.mkdir(mode=0o700, exist_ok=True)
    sharing = {"CI": "false", "SIDECAR_LINGER": "2", "XDG_RUNTIME_DIR": str(run)}
    return {
        **{k: v for k, v in os.environ.items() if not k.startswith("ANTHROPIC_")},
        "HOME": str(folder.parent),
        "LC_ALL": "C.UTF-8",
        "PYTHONPATH": str(ROOT),
        "SIDECAR_DATA_DIR": str(folder.parent / "data"),
        "SIDECAR_OFFLINE_PACE": "0.005",
        **(sharing if shared else {}),
    }


def settings() -> str:
    """Give Lisp that sets how the daemon is started."""
    command = f'("{sys.executable}" "-m" "sidecar" "serve" "--stdio")'
    return f"(setq sidecar-command '{command} sidecar-options '{OPTIONS} sidecar-api-key nil)"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return lay_out(tmp_path, lines=900)


def emacs(
    folder: Path, *arguments: str, limit: float = LIMIT, shared: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run Emacs without a screen and without anybody's settings."""
    return subprocess.run(
        [EMACS, "-Q", "--batch", "-L", str(PLUGIN), *arguments],
        cwd=folder,
        env=environment(folder, shared=shared),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=limit,
        check=False,
    )


def play(folder: Path, name: str, *, shared: bool = False) -> str:
    """Play a part of the scenario; gives the session that it ended with."""
    played = emacs(
        folder,
        "-l",
        str(Path(__file__).parent / "emacs_scenario.el"),
        "-l",
        str(Path(__file__).parent / "emacs_review.el"),
        "--eval",
        settings(),
        "--funcall",
        name,
        shared=shared,
    )
    assert played.returncode == 0, played.stdout + played.stderr
    return played.stdout.splitlines()[-1]


@pytest.mark.parametrize("shared", [False, True])
def test_a_day_with_the_plugin(workspace: Path, *, shared: bool) -> None:
    session = play(workspace, "scenario-first", shared=shared)
    assert session.startswith("session ses_")
    assert play(workspace, "scenario-second", shared=shared) == session


def test_a_session_is_exported_and_imported(workspace: Path) -> None:
    assert play(workspace, "scenario-moving").startswith("session ses_")


def test_each_question_has_its_own_answer(workspace: Path) -> None:
    assert play(workspace, "scenario-questions") == "done"


def test_a_turn_is_reviewed_hunk_by_hunk(workspace: Path) -> None:
    assert play(workspace, "scenario-review") == "done"


@pytest.mark.parametrize("path", [".:{}", "{}:", "bin:{}"])
def test_no_daemon_is_taken_from_the_folder_that_is_open(workspace: Path, path: str) -> None:
    lay_trap(workspace)
    lisp = '(progn (require \'sidecar) (find-file "notes.txt") (sidecar-mode 1) (sleep-for 0.3))'
    found = subprocess.run(
        [EMACS, "-Q", "--batch", "-L", str(PLUGIN), "--eval", lisp],
        cwd=workspace,
        env={**environment(workspace), "PATH": path.format("/usr/bin:/bin")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    assert "There is no program sidecar" in found.stderr
    assert not (workspace / "ran").exists()


@contextmanager
def on_a_screen(workspace: Path) -> Iterator[Terminal]:
    """Give Emacs on a terminal, with the plugin loaded and a file open."""
    terminal = Terminal(
        [EMACS, "-Q", "-nw", "-L", str(PLUGIN), "-l", "sidecar", "--eval", settings(), "notes.txt"],
        workspace,
        environment(workspace),
    )
    terminal.wait("alpha")
    yield terminal
    with suppress(ProcessLookupError):
        os.kill(terminal.pid, signal.SIGKILL)


@pytest.fixture
def screen(workspace: Path) -> Iterator[Terminal]:
    with on_a_screen(workspace) as terminal:
        yield terminal


def command(screen: Terminal, name: str, *answers: str) -> None:
    """Type a command and its answers, each when it is asked for by a word."""
    screen.type(f"\x1bx{name}\r")
    for asked, answer in zip(answers[::2], answers[1::2], strict=True):
        screen.wait(asked)
        screen.type(f"{answer}\r")


def test_the_same_on_a_screen(screen: Terminal, workspace: Path) -> None:
    command(screen, "sidecar-mode")
    screen.wait("k/192k")
    (colour,) = screen.colours("/192k")
    red, green, blue = (int(colour[at : at + 2], 16) for at in (0, 2, 4))
    assert green > max(red, blue)
    command(screen, "sidecar-send", "Sidecar:", "replace `alpha` with `ALPHA` in notes.txt")
    shown = screen.wait(lambda text: "What the tools said" in text and IDLE in text)
    assert "▸ Thinking" in shown
    assert "My rules" not in shown
    assert "✓" in shown
    assert "ALPHA" in shown.partition("*sidecar")[0]
    (workspace / "notes.txt").write_text("ALPHA\nbeta\ngamma\nmine\n")
    command(screen, "sidecar-rollback", "before:", "", "Take back", "", "conflicts", "ediff")
    screen.wait("Type ? for help")
    assert "*notes.txt before*" in screen.text()
    screen.type("q")
    screen.wait("Quit this Ediff session")
    screen.type("y")
    screen.wait(lambda text: "Type ? for help" not in text)
    command(screen, "sidecar-rollback", "before:", "", "Take back", "", "conflicts", "merge")
    screen.wait("Went back: notes.txt merged")
    screen.wait(lambda text: "mine" in text and "alpha" in text.partition("*sidecar")[0])
    assert (workspace / "notes.txt").read_text() == "alpha\nbeta\ngamma\nmine\n"
    command(screen, "sidecar-chat")
    screen.wait(f"{PROMPT} replace `alpha`")
    command(screen, "sidecar-context")
    screen.wait("cached  region")
    screen.type("\x18\x03")
    assert screen.end() == 0


def test_a_question_is_answered_where_it_is_shown_whole(screen: Terminal) -> None:
    command(screen, "sidecar-mode")
    screen.wait("k/192k")
    call = "call shell " + json.dumps({"command": f"echo {'x' * 150}; touch late"})
    command(screen, "sidecar-send", "Sidecar:", call)
    screen.wait("[Allow once]")
    screen.type("\x18b\r\x181")
    screen.wait(lambda text: "[Allow once]" not in text)
    screen.type("\x1bxsidecar-answer\r")
    asked = screen.wait("[Allow once]")
    assert "touch late" in asked
    screen.type("\x07\x18\x03")


def test_an_empty_chat_leads_on(screen: Terminal, workspace: Path) -> None:
    command(screen, "sidecar-mode")
    screen.wait("k/192k")
    command(screen, "sidecar-chat")
    screen.wait("C-c C-s  shows all commands")
    screen.type("\x03\x13")
    screen.wait("u undo a compaction")
    screen.type("x")
    screen.wait("cached  region")
    command(screen, "sidecar-send", "Sidecar:", "list files")
    shown = screen.wait("2 requests")
    assert "shows all commands" not in shown
    (workspace / "code.txt").write_text("`code` words\n")
    command(screen, "sidecar-send", "Sidecar:", "read code.txt")
    screen.wait("read_file: `code`")
    screen.wait(lambda _: screen.colours("`code`") != {"default"})
    assert screen.colours("code` words"[4:]) != screen.colours("`code`")
    screen.type("\x18\x03")


def test_an_edit_is_answered_where_its_diff_is_shown(screen: Terminal) -> None:
    screen.type('\x1b:(setq sidecar-options \'(:model "offline" :workspaceTrusted t))\r')
    command(screen, "sidecar-mode")
    screen.wait("k/192k")
    command(screen, "sidecar-send", "Sidecar:", "replace `beta` with `better` in notes.txt")
    screen.wait("[Allow once]")
    screen.type("\x1bxsidecar-answer\r")
    screen.wait("+++ b/notes.txt\n@@ -1,3 +1,3 @@\n alpha\n-beta\n+better\n gamma\n")
    screen.wait("Edit notes.txt —")
    screen.type("Allow once\r")
    screen.wait(lambda text: IDLE in text and "@@" not in text)
    screen.type("\x18\x03")


@pytest.mark.parametrize("name", FILES)
def test_it_compiles_without_warnings(tmp_path: Path, name: str) -> None:
    for file in FILES:
        shutil.copy(PLUGIN / file, tmp_path)
    strict = "(setq byte-compile-error-on-warn t)"
    made = emacs(tmp_path, "-L", ".", "--eval", strict, "-f", "batch-byte-compile", name)
    assert (made.returncode, made.stderr) == (0, "")


@pytest.mark.skipif(not LINTERS, reason="package-lint is not installed: Debian's elpa-package-lint")
def test_package_lint_has_nothing_to_say(tmp_path: Path) -> None:
    main = '(setq package-lint-main-file "sidecar.el")'
    lint = ("-l", "package-lint", "--eval", main, "-f", "package-lint-batch-and-exit")
    for file in FILES:
        shutil.copy(PLUGIN / file, tmp_path)
    told = emacs(tmp_path, *LINTERS, *lint, *FILES)
    assert told.returncode < 2, told.stderr
    faults = [line for line in (told.stdout + told.stderr).splitlines() if ".el:" in line]
    # Its list of released versions of Emacs ends before 28.1.
    assert [line for line in faults if not line.endswith("in all released Emacs versions.")] == []


def test_the_folder_is_a_package(tmp_path: Path) -> None:
    package = f'(setq package-user-dir "{tmp_path / "elpa"}")'
    install = f'(package-install-file "{PLUGIN}")'
    command = [EMACS, "-Q", "--batch", "-l", "package", "--eval", package]
    known = "(princ (list (commandp 'sidecar-mode) (commandp 'sidecar-menu) (featurep 'sidecar)))"
    told = [
        subprocess.run(
            [*command, "--eval", lisp, *more],
            cwd=tmp_path,
            env=environment(tmp_path / "x"),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=True,
        )
        for lisp, *more in ((install,), ("(package-initialize)", "--eval", known))
    ]
    assert told[1].stdout == "(t t nil)", told[1].stderr


@pytest.mark.parametrize("name", FILES)
def test_it_is_documented_as_emacs_wants_it(tmp_path: Path, name: str) -> None:
    check = f'(progn (require \'checkdoc) (checkdoc-file "{PLUGIN / name}"))'
    assert emacs(tmp_path, "--eval", check).stderr == ""


def test_the_key_comes_from_auth_source_or_a_function(tmp_path: Path) -> None:
    (tmp_path / "authinfo").write_text("machine api.anthropic.com login apikey password sk-kept\n")
    found = emacs(
        tmp_path,
        "-l",
        "sidecar",
        "--eval",
        '(let ((auth-sources (list "authinfo")) (desk (sidecar-desk--make :root "/x")))'
        '  (dolist (sidecar-api-key (list \'auth-source nil (lambda () "sk-called")))'
        '    (princ (format "%S\\n" (plist-get (plist-get (sidecar--introduction desk)'
        "           :initializationOptions) :provider)))))",
    )
    assert found.stdout == '(:apiKey "sk-kept")\nnil\n(:apiKey "sk-called")\n', found.stderr


def test_what_a_file_was_is_found_from_its_diff(tmp_path: Path) -> None:
    chance = random.Random(7)
    cases = []
    for _ in range(200):
        was = [f"{chance.choice('abc')}\n" for _ in range(chance.randrange(30))]
        now = [line for line in was if chance.random() < 0.8]
        for _ in range(chance.randrange(4)):
            now.insert(chance.randrange(len(now) + 1), f"{chance.choice('abcd')}\n")
        diff = difflib.unified_diff(was, now, "a/x", "b/x", n=chance.choice((0, 1, 3)))
        cases.append(["".join(now), "".join(diff), "".join(was)])
    (tmp_path / "cases.json").write_text(json.dumps(cases))
    told = emacs(
        tmp_path,
        "-l",
        "sidecar",
        "--eval",
        '(progn (seq-doseq (case (with-temp-buffer (insert-file-contents "cases.json")'
        "                                   (json-parse-buffer)))"
        "  (let ((found (sidecar-rollback--unpatched (aref case 0) (aref case 1))))"
        '    (unless (equal found (aref case 2)) (error "%S gives %S" case found))))'
        '(princ "all"))',
    )
    assert told.stdout == "all", told.stderr


STUB = """(define-derived-mode gfm-mode text-mode "Stub"
  (setq font-lock-defaults '((("two" . 'underline)) t)))"""


@pytest.mark.parametrize(
    ("mode", "faces"),
    [
        (
            "nil",
            "default one sidecar-heading # two default  bold **three** default  sidecar-code"
            " `four` default  **five sidecar-code ```py **six** ``` default  seven"
            " sidecar-code ``` **eight** ",
        ),
        (STUB, "default one #  underline two default  **three** `four` **five ```py"),
    ],
)
def test_answers_are_markdown(tmp_path: Path, mode: str, faces: str) -> None:
    text = "one\n# two\n**three** `four` **five\n```py\n**six**\n```\nseven\n```\n**eight**\n"
    lisp = f"""(with-temp-buffer
      (insert {json.dumps(text)})
      (dotimes (_ 2) (sidecar-markdown-fontify (point-min) (point-max)))
      (let ((at (point-min)))
        (while (< at (point-max))
          (let ((next (next-single-property-change at 'face nil (point-max))))
            (princ (format "%s %s " (get-text-property at 'face) (buffer-substring at next)))
            (setq at next)))))"""
    told = emacs(tmp_path, "-l", "sidecar", "--eval", mode, "--eval", lisp)
    assert " ".join(told.stdout.split()).startswith(" ".join(faces.split())), told.stderr


@pytest.mark.parametrize("cost", ["0.31", None])
def test_what_the_session_cost_is_told(tmp_path: Path, cost: str | None) -> None:
    meter = json.dumps(json.dumps({"cost": {"session": cost}} if cost else {"cost": {}}))
    lisp = f"(princ (sidecar-context-about (json-parse-string {meter} :object-type 'plist)))"
    told = emacs(tmp_path, "-l", "sidecar", "--eval", lisp)
    assert f"cost {cost or 'unknown'} so far" in told.stdout, told.stderr


def test_a_question_writes_out_names_and_lists(tmp_path: Path) -> None:
    given = {"list": ["a\u202eb"], "to:\n  you\u202e": {"key": "\u202ex"}}
    call = json.dumps(json.dumps({"title": "mcp__mail__send hi", "rawInput": given}))
    lisp = f"(princ (sidecar-questions--body (json-parse-string {call} :object-type 'plist)))"
    told = emacs(tmp_path, "-l", "sidecar", "--eval", lisp)
    shown = '  list:  ["a\\u{202e}b"]\n  to:\\n  you\\u{202e}:  {"key":"\\u{202e}x"}\n'
    assert told.stdout == shown, told.stderr


def test_the_plugin_is_small() -> None:
    lines = {name: (PLUGIN / name).read_text("utf-8").count("\n") for name in FILES}
    assert max(lines.values()) <= 400
    drawing = {f"sidecar-{one}.el" for one in VIEWS}
    assert sum(count for name, count in lines.items() if name not in drawing) <= 1_000

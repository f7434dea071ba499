"""Real Emacs on a screen: what is typed in the chat, and done in it."""

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.editors.terminal import Terminal
from tests.editors.test_emacs import EMACS, IDLE, PROMPT, command, emacs, on_a_screen
from tests.editors.workspaces import lay_out

pytestmark = [pytest.mark.long, pytest.mark.skipif(not EMACS, reason="there is no emacs on PATH")]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return lay_out(tmp_path, lines=9)


@pytest.fixture
def screen(workspace: Path) -> Iterator[Terminal]:
    """Emacs with an empty chat, at its prompt."""
    with on_a_screen(workspace) as terminal:
        command(terminal, "sidecar-mode")
        terminal.wait("k/192k")
        command(terminal, "sidecar-chat")
        terminal.wait("completes a file behind @")
        yield terminal


def test_files_and_commands_are_completed(screen: Terminal, workspace: Path) -> None:
    (workspace / "src/deep").mkdir(parents=True)
    for name in ("src/deep/some code.py", "notes.log", "nets.txt"):
        (workspace / name).write_text("")
    (workspace / ".gitignore").write_text("*.log\n")
    screen.type("compare @nts\t")
    shown = screen.wait("Possible completions")
    assert {"nets.txt", "notes.txt"} <= set(shown.split())
    assert "notes.log" not in shown
    screen.type("\x7f\x7fot\t")
    screen.wait("compare @notes.txt\n")
    screen.type("and @sdsce\t\r")
    screen.wait(f'{PROMPT} compare @notes.txt and @"src/deep/some code.py"')
    screen.wait(IDLE)
    screen.type("/conx\r")
    screen.wait("There is no command /conx, /context may be meant")
    screen.type("\x7f\t")
    screen.wait(f"{PROMPT} /context")
    screen.type("\r")
    # The window with the context is drawn before the chat.
    screen.wait(lambda text: "cached  region" in text and f"{PROMPT} /context" not in text)
    screen.type("/fork it\r")
    screen.wait("/fork takes no words after it")
    screen.type("\x15\r")
    screen.wait(lambda text: f"{PROMPT} /fork it\n" in text and text.count("1 request ·") == 2)
    screen.type("/etc/hosts is a path\r")
    screen.wait(f"{PROMPT} /etc/hosts is a path\n")
    screen.type("\x18\x03")


def test_a_message_is_changed_and_sent_anew_and_answers_are_copied(screen: Terminal) -> None:
    screen.type("read notes.txt\r")
    screen.wait("2 requests")
    screen.type("list files\r")
    screen.wait(lambda text: text.count("2 requests") == 2)
    screen.type("\x12read notes\r\x03\x12\r")
    screen.wait("Take back")
    screen.type("conversation\r")
    screen.wait("no file is touched (apply")
    screen.type("apply\r")
    screen.wait("Went back")
    screen.wait(lambda text: f"{PROMPT} list files" not in text)
    screen.wait(f"\n{PROMPT} read notes.txt\n")
    screen.type("\x1b> then list files\r")
    screen.wait("3 requests")
    screen.type("\x12What the\r\x03\x17")
    screen.wait("Copied: Done. What the tools said:")
    screen.type("\x1b>\x19")
    screen.wait(f"{PROMPT} Done. What the tools said:\n")


def test_a_plan_is_shown(screen: Terminal) -> None:
    screen.type("todo: one; two\r")
    screen.wait("☐ one\n☐ two\n")


def test_the_region_is_offered_as_what_is_said(screen: Terminal) -> None:
    screen.type("\x18bnotes.txt\r\x18h\x1bxsidecar-send\r")
    screen.wait("Sidecar: alpha")
    screen.type("read notes.txt\r")
    screen.wait(f"{PROMPT} alpha\n")
    screen.wait("2 requests")


def test_failed_commands_are_open_at_their_end(screen: Terminal) -> None:
    screen.type("run `seq 400 459; exit 3`\r")
    screen.wait("[Allow once]")
    command(screen, "sidecar-answer", "seq 400", "Allow once")
    shown = screen.wait("2 requests")
    assert "✗ " in shown
    assert "\n459\n" in shown
    assert "\n440\n" not in shown
    screen.type("\x12✗\r\r")
    screen.wait("\n401\n")
    screen.type("\x03\x17")
    screen.wait("Copied: 400")


def test_a_message_steers_the_turn_that_runs(screen: Terminal) -> None:
    screen.type("run `sleep 4`\r")
    screen.wait("[Allow once]")
    command(screen, "sidecar-answer", "sleep 4", "Allow once")
    screen.wait("… Run sleep 4")
    screen.type("list files\r")
    shown = screen.wait("3 requests")
    assert f"{PROMPT} list files" in shown
    assert "2 requests" not in shown


def test_one_file_of_a_turn_is_taken_back(screen: Terminal, workspace: Path) -> None:
    screen.type(
        "replace `alpha` with `ALPHA` in notes.txt then replace `Hello` with `Hi` in main.py"
    )
    screen.type("\r")
    screen.wait("3 requests")
    screen.type("\x03\x12")
    screen.wait("before:")
    screen.type("\r")
    screen.wait("Take back")
    screen.type("file\r")
    screen.wait("the file:")
    screen.type("notes.txt\r")
    screen.wait("notes.txt restored (apply")
    screen.type("apply\r")
    screen.wait("Went back: notes.txt restored")
    assert (workspace / "notes.txt").read_text() == "alpha\nbeta\ngamma\n"
    assert "Hi, " in (workspace / "main.py").read_text()


def test_code_of_an_answer_is_copied(screen: Terminal) -> None:
    said = "So:\\n```py\\none = 1\\n```\\nthat"
    screen.type(f'\x1b:(sidecar-chat--answer "x" "{said}" nil)\r')
    screen.wait("one = 1")
    screen.type("\x12one = \r\x03\x17")
    screen.wait("Copied: one = 1")
    screen.type("\x1b>\x19")
    screen.wait(f"{PROMPT} one = 1\n")


def test_a_path_of_a_model_leads_to_no_other_machine(tmp_path: Path) -> None:
    far = ("/ssh:far:/x", "//ssh:far:/x", "/w/../ssh:far:/x")
    near = ("/w/a.py", "/w/a:b.py")
    lisp = '(princ (mapconcat #\'sidecar--local (list %s) " "))'
    named = emacs(tmp_path, "-l", "sidecar", "--eval", lisp % " ".join(map(json.dumps, far + near)))
    assert named.stdout.split() == [*("/:" + path for path in far), *near], named.stderr


@pytest.mark.parametrize(
    ("root", "path", "named"),
    [
        ("/w", "~/x", "/w/~/x"),
        ("/w", "~root/x", "/w/~root/x"),
        ("/", "ssh:far:/x", "/:/ssh:far:/x"),
        ("/ssh:far:", "x", "/:/ssh:far:/x"),
    ],
)
def test_a_path_of_a_session_is_below_its_folder(
    tmp_path: Path, root: str, path: str, named: str
) -> None:
    lisp = f"(princ (sidecar--file {json.dumps(root)} {json.dumps(path)}))"
    assert emacs(tmp_path, "-l", "sidecar", "--eval", lisp).stdout == named


@pytest.mark.parametrize(
    ("face", "name"),
    [("sidecar-user", "what you said: push"), ("default", f"the answer: {PROMPT} push")],
)
def test_an_answer_is_not_named_as_the_users_words(tmp_path: Path, face: str, name: str) -> None:
    """What goes along under that name is the model's to believe."""
    lisp = f"""
        (with-temp-buffer
          (setq-local sidecar-chat--parts (make-hash-table :test #'equal))
          (insert (propertize "{PROMPT} push" 'face '{face} 'sidecar-part "p"))
          (puthash "p" (list (copy-marker (point-min)) (copy-marker (point-max)) nil)
                   sidecar-chat--parts)
          (princ (sidecar-unseen--name "p")))"""
    named = emacs(tmp_path, "-l", "sidecar-chat", "-l", "sidecar-unseen", "--eval", lisp)
    assert named.stdout == name, named.stderr


def test_what_the_model_no_longer_sees_is_marked_and_recalled(
    screen: Terminal, workspace: Path
) -> None:
    (workspace / "long.txt").write_text("a line of many words, all of them alike\n" * 900)
    screen.type("read long.txt\r")
    screen.wait("2 requests")
    screen.type("read long.txt\r")
    screen.wait(lambda text: text.count("2 requests") == 2)
    assert "left out" not in screen.text()
    command(screen, "sidecar-compact", "keeping in mind", "")
    screen.wait("(y or n)")
    screen.type("y")
    screen.wait("— completed (user)")
    screen.type("\x181\x1b<")
    marked = screen.wait("✓ long.txt  left out: ")
    assert "asked for" in marked
    screen.type("\x13✓ long\r\x03\x19")
    screen.wait("\n + long.txt\n")
    screen.type("\x03\x19")
    screen.wait("long.txt goes along no more")
    screen.type("\x03\x19")
    screen.wait("\n + long.txt\n")
    screen.type("\x1b>who said it?\r")
    shown = screen.wait(f"{PROMPT} + long.txt")
    assert "\n + long" not in shown
    command(screen, "sidecar-undo-compaction")
    screen.wait("taken back")
    screen.type("\x1b<")
    screen.wait(lambda text: "▸ Thinking" in text and "left out" not in text)
    screen.type("\x18\x03")


def test_a_long_question_is_read_to_its_end_before_it_is_allowed(screen: Terminal) -> None:
    lines = "touch early" + "\n" * 60 + "git status"
    command(screen, "sidecar-send", "Sidecar:", f"call shell {json.dumps({'command': lines})}")
    screen.wait("[Allow once]")
    screen.type("\x1bxsidecar-answer\r")
    screen.wait(lambda text: "$ touch early" in text and "more below" in text)
    screen.type("Allow once\r")
    screen.wait("[No match]")
    screen.type("\x01\x0b\r")
    screen.wait(lambda text: "$ touch early" not in text and "more below" in text)
    while "more below" in screen.text():
        screen.type("\r")
        time.sleep(0.3)
    screen.wait("$ git status")
    # Whoever turns pages by one key allows nothing by it.
    screen.type("\r")
    screen.wait(lambda text: "$ touch early" in text and "more below" in text)
    while "more below" in screen.text():
        screen.type("\r")
        time.sleep(0.3)
    screen.type("Allow once\r")
    screen.wait(lambda text: " — " not in text)
    screen.type("\x18\x03")


def test_what_a_list_of_answers_covers_is_read_before_it_is_allowed(
    screen: Terminal, workspace: Path
) -> None:
    """A list below the prompt, as fido and vertico draw it, grows over the command's end."""
    command(screen, "fido-vertical-mode")
    rows = screen.text().count("\n")
    lines = json.dumps({"command": "echo\n" * (rows // 2 - 6) + "touch last"})
    screen.type(f"\x1b:(sidecar-send {json.dumps(f'call shell {lines}')})\r")
    screen.wait("[Allow once]")
    screen.type("\x1b:(sidecar-answer)\r")
    for _ in range(rows):
        shown = screen.wait(lambda text: "Always reject exactly this\n" in text)
        if "$ touch last" in shown:
            break
        screen.type("Allow once\r")
        time.sleep(0.3)
        assert not (workspace / "last").exists()
    screen.type("Allow once\r")
    screen.wait(lambda _: (workspace / "last").exists())
    screen.type("\x18\x03")


def test_a_long_line_of_a_change_is_shown_to_its_end(screen: Terminal) -> None:
    """Emacs cuts lines in windows that are narrower than the screen."""
    screen.type("\x181\x183\x183")
    end = "PATH=bin:$PATH" + " " * 200 + "; touch made"
    given = json.dumps({"path": ".envrc", "content": end})
    screen.type(f"\x1b:(sidecar-send {json.dumps(f'call write_file {given}')})\r")
    screen.wait("[Allow once]")
    screen.type("\x1b:(sidecar-answer)\r")
    shown = screen.wait("sidecar diff")
    assert not re.search(r"\+PATH=bin:\$PATH +\$", shown)
    screen.type("\x07\x18\x03")

"""No command lets what sessions, files, paths and models say steer the terminal that it is in."""

import ast
import fcntl
import logging
import os
import pty
import re
import select
import struct
import termios
import time
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import pytest

from sidecar.commands.inspect.inspect_tables import drawn
from sidecar.commands.terminal import say, terminal
from sidecar.core.text.visible import visible, visible_json, visible_lines, whole_letters
from sidecar.wire.stderr_log import JsonLines
from tests.commands.everything import LIMIT, OUTSIDE, Past, environment, names_of_commands
from tests.faults.forked import begin
from tests.observe.courses import course

ROOT = Path(__file__).parents[2]
COLUMNS = 600
OURS = re.compile(r"\x1b\[[0-9;]*m|\x1b\[\?25[lh]|\x1b\[[12]?K|\x1b\[\d*A|\r")
"""Colours, the cursor hidden or shown, a line of progress erased: what Rich writes for us."""
UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Categories of what has no shape."""
STYLE = "\x1b[5;31;47m"
"""A style that is never ours."""
STEERING = f"{STYLE}\x1b]52;c;eA==\x07\x1b[2J\x9b31m\x85\u2028\u202eabc\u2066\u200f\u200b\x7f\x08"
MARKUP = "[/b] [link=https://example.com]x[/link] [/etc/hosts] :boom:"
FORGED = "\nFORGED"


def at_terminal(
    arguments: Sequence[str], folder: Path, env: dict[str, str], typed: bytes = b""
) -> tuple[int, str]:
    """Run a command in a terminal that is wide enough for all; gives its code and all its bytes."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 60, COLUMNS, 0, 0))
    process = begin(arguments, (theirs,) * 3, {**env, "TERM": "xterm-256color"}, folder)
    os.close(theirs)
    os.write(ours, typed)
    seen = b""
    ends = time.monotonic() + LIMIT
    while time.monotonic() < ends and select.select([ours], [], [], LIMIT)[0]:
        try:
            seen += os.read(ours, 65536)
        except OSError:
            break
    process.kill() if time.monotonic() >= ends else None
    os.close(ours)
    return process.wait(), seen.decode("utf-8")


def left_over(said: str) -> str:
    """Give the letters that neither are ours nor can be seen."""
    rest = OURS.sub("", said)
    return "".join(c for c in rest if c not in "\n\t" and unicodedata.category(c) in UNSEEN)


@pytest.fixture
def past(tmp_path: Path) -> Past:
    """Sessions whose title, folder, prompts, files and outputs are made to steer."""
    folder = tmp_path / f"fol{STEERING.replace('/', '')}der{FORGED} [b]"
    folder.mkdir()
    (folder / "x.py").write_text("a = 1\n")
    (folder / f"name{STEERING.replace('/', '')}{FORGED} [b]").write_text(STEERING)
    bad = os.fsencode(folder) + b"/\xff\x9b.txt"
    Path(os.fsdecode(bad)).write_text(f"{STEERING}\n")
    prompts = (
        f"create out.txt with `{STEERING} {MARKUP}`",
        f"run `printf '\\033[5;31;47m\\033]52;c;eA==\\007\\302\\233'; date > 'a{FORGED}'`",
        f"{MARKUP}{STEERING} replace `a = 1` with `a = 2{STEERING}` in x.py",
    )
    made = Past(tmp_path / f"da{STEERING.replace('/', '')}ta{FORGED}", folder, prompts)
    made.title = f"{MARKUP}{STEERING}"
    made.live(3)
    return made


@pytest.mark.long
def test_nothing_steers_the_terminal(tmp_path: Path, past: Past) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    env = environment(past.data)
    settings = tmp_path / ".config" / "sidecar" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('"\\u001b[2J\\u009b\\u202e" = 1\nmodel = "x\\u202ey"\n')
    recordings = elsewhere / f"rec{STEERING.replace('/', '')}{FORGED}.jsonl"
    past.recording(recordings, f"{MARKUP}{STEERING}")
    hostile = f"{MARKUP}{STEERING}{FORGED}"
    wrong = [
        *((name, hostile) for name in ("inspect", "audit", "report", "checkpoints", "diff")),
        *(
            (name, hostile)
            for name in ("export", "import", "archive", "replay", "restore", hostile)
        ),
        ("delete", hostile, "--yes"),
        ("restore", hostile, "--last", "--yes"),
        ("diff", past.sessions[0], hostile),
        ("restore", past.sessions[0], "--before", hostile, "--dry-run"),
        ("config", "show", "--options", hostile),
        ("config", "check", "--cwd", hostile),
        ("sessions", f"--{hostile}"),
        ("replay", str(recordings), "--policy", hostile),
        ("replay", str(recordings), "--judge"),
        ("replay", str(recordings)),
        ("report", past.sessions[0], str(elsewhere / hostile.replace("/", ""))),
        ("export", past.sessions[0], str(elsewhere / hostile.replace("/", ""))),
    ]
    seen = set()
    asking = ("restore", past.sessions[0], "--last")
    for arguments in (asking, *wrong, *past.commands(elsewhere)):
        code, said = at_terminal(
            arguments, past.folder, env, b"n\n" if arguments is asking else b""
        )
        seen.add(arguments[0])
        assert left_over(said) == "", (arguments, said)
        assert STYLE not in said, (arguments, said)
        plain = OURS.sub("", said)
        assert "Traceback" not in plain, (arguments, plain)
        if "checkpoints" in arguments or "diff" in arguments:
            assert not re.search(r"^\W*FORGED", plain, re.MULTILINE), plain
        if arguments == ("sessions",):
            assert plain.count(past.sessions[0][:8]) >= 1
            assert "[/b] [link=https://example.com]x[/link]" in plain
            assert len(plain.splitlines()) == 4
        assert code in (0, 1, 2), (arguments, plain)
    assert names_of_commands() - set(OUTSIDE) <= seen


def test_what_is_drawn_said_or_logged_is_plain_text(capsys: pytest.CaptureFixture[str]) -> None:
    hostile = f"{MARKUP}{STEERING}"
    terminal(width=COLUMNS).print(hostile)
    say(hostile)
    record = logging.LogRecord("sidecar", logging.INFO, "", 0, "%s", (hostile,), None)
    for said in (*capsys.readouterr(), JsonLines().format(record)):
        assert left_over(said) == ""
        assert STYLE not in said
        assert MARKUP in said


def test_each_text_of_a_session_that_is_looked_at_is_plain(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for one in drawn(course(words=f"{MARKUP}{STEERING}")):
        terminal(width=COLUMNS).print(one)
    said = capsys.readouterr().out
    assert said.count("]52;c;eA==") > 20
    assert left_over(said) == ""
    assert STYLE not in said


def test_what_steers_a_terminal_is_spelled_out_and_the_rest_stays() -> None:
    kept = "naïve 👨\u200d👩\u200d👧 नमस्ते क\u200cष ❤\ufe0f"
    assert visible(kept) == kept
    for hidden in "\xa0\u1680\u2003\u200c\u200d\u202f\u205f\u3000\ufe0f":
        for before in (" ", "=", "a", "|", "\\"):
            assert visible(f"{before}{hidden}#") == f"{before}{ascii(hidden)[1:-1]}#"
    assert visible("\x1b[31m\n\t\x7f\x9b\u202e\ud800") == "␛[31m␊␉␡\\x9b\\u202e\\ud800"
    assert visible("a\x85\u2028\u2029\u200f\u2066b") == "a\\x85\\u2028\\u2029\\u200f\\u2066b"
    assert visible(os.fsdecode(b"\xe9\x9b")) == "\\xe9\\x9b"
    assert visible_lines("a\n\tb\x1b\r\n") == "a\n\tb␛␍\n"
    assert visible_json({"a\x9b": "\u202e\x7f\n\U000e0041é"}, 1) == (
        '{\n "a\\u009b": "\\u202e\\u007f\\n\\udb40\\udc41é"\n}'
    )


@pytest.mark.parametrize(
    ("text", "most", "kept"),
    [
        ("ab", 5, "ab"),
        ("abc", 2, "ab"),
        ("a🇩🇪🇫🇷", 2, "a"),
        ("a🇩🇪🇫🇷", 3, "a🇩🇪"),
        ("a🇩🇪🇫🇷", 4, "a🇩🇪"),
        ("x👨\u200d👩\u200d👧", 4, "x"),
        ("e\u0301e\u0301", 3, "e\u0301"),
        ("👍🏽", 1, ""),
    ],
)
def test_no_letter_is_cut_within(text: str, most: int, kept: str) -> None:
    assert whole_letters(text, most) == kept


CONSOLE = re.compile(r"\bConsole\(\w*=|\bConsole\(\)|\bConsole as\b|console\.Console\b")


def test_only_one_place_makes_a_console() -> None:
    files = (ROOT / "sidecar").rglob("*.py")
    assert [path.name for path in files if CONSOLE.search(path.read_text("utf-8"))] == []


def test_what_is_printed_past_the_console_is_spelt_out() -> None:
    printed = {
        ast.unparse(node.args[0])
        for path in (ROOT / "sidecar/commands").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Call) and PRINTS.fullmatch(ast.unparse(node.func))
    }
    # A shell reads what completes its words.
    plain = {text for text in printed if "visible" not in text}
    assert plain == {repr("No file changed.\n"), "script(shell)"}


PRINTS = re.compile(r"print|sys\.std(out|err)(\.buffer)?\.write")


@pytest.mark.parametrize(
    "letter",
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180f\u2800\u3164\ufe00\ufe0f\uffa0\U000e0100\U000e01ef",
)
def test_letters_without_a_shape_are_spelt_out(letter: str) -> None:
    spelt = ascii(letter)[1:-1]
    assert visible(f"cat notes.txt{letter}") == f"cat notes.txt{spelt}"
    assert letter not in visible_json({"a": letter})
    assert visible(f"\u2800{letter}") == f"\\u2800{spelt}"


def test_a_symbol_keeps_its_presentation() -> None:
    for text in ("I \u2764\ufe0f it", "\u2194\ufe0e"):
        assert visible(text) == text
    assert visible("\u2764\ufe0f\ufe0f") == "\u2764\ufe0f\\ufe0f"


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("vscode/src/views/visible.ts", r"HIDDEN = /(.*)/gu"),
        ("emacs/sidecar-visible.el", r"\(rx \(any ((?:[^\"])*)\)\)\n"),
    ],
)
def test_questions_spell_out_what_the_daemon_does(file: str, text: str) -> None:
    found = re.search(text, (ROOT / "editors" / file).read_text(), re.DOTALL)
    assert found is not None
    number = r"(?:\\u\{?|#x)([0-9a-f]+)\}?|(\d+)"
    spans = re.findall(rf"(?:{number})(?:(?:-| \. )(?:{number}))?", found[1])
    hidden: set[int] = set()
    for hexadecimal, decimal, last_hexadecimal, last_decimal in spans:
        first = int(hexadecimal, 16) if hexadecimal else int(decimal)
        last = int(last_hexadecimal or "0", 16) or int(last_decimal or first)
        hidden.update(range(first, last + 1))
    codes = (*range(0x20000), *range(0xE0000, 0xE1000))
    ours = {code for code in codes if visible(chr(code)) != chr(code) and not has_sign(code)}
    assert ours - hidden == {0x9, 0xA}


def has_sign(code: int) -> bool:
    """Whether a letter that steers its script has a sign of its own, or is half of one."""
    signs = ("ARABIC ", "SYRIAC ", "KAITHI ", "EGYPTIAN ")
    return 0xD800 <= code < 0xE000 or (
        unicodedata.name(chr(code), "").startswith(signs) and code != 0x61C
    )

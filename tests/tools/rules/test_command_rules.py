"""What rules for commands cover: ways around them, ordinary work, and folders."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecar.tools.rules import shell_words
from sidecar.tools.rules.coverage import known
from sidecar.tools.rules.permission import Allow, Ask, Refuse
from sidecar.tools.rules.shell_words import plain_words
from sidecar.tools.rules.tables.programs import PROGRAMS
from sidecar.tools.shell import scrubbed
from sidecar.tools.tool_contract import ToolContext
from tests.examples import examples
from tests.memory import MEMORY
from tests.tools.rules.decisions import decided
from tests.tools.rules.ways import hostile, ordinary


@pytest.mark.parametrize("command", hostile())
def test_no_star_covers_a_way_around(command: str, standing_work: ToolContext) -> None:
    words = command.split()
    # Rules as generous as they can be: for each program, and for the command's first two words.
    beginnings = [" ".join(words[:size]) for size in (1, 2) if size < len(words)]
    rules = ["shell:*", "shell:* *", *(f"shell:{name} *" for name in PROGRAMS if name in command)]
    rules += [f"shell:{one}{star}" for one in beginnings for star in (" *", "*")]
    assert isinstance(decided(command, standing_work, *rules), Ask)


@pytest.mark.parametrize(("rule", "folder", "command"), ordinary())
def test_ordinary_work_is_not_asked_about(
    rule: str, folder: str, command: str, standing_plain: ToolContext
) -> None:
    found = decided(command, standing_plain, rule, cwd=folder)
    assert found == Allow(), getattr(found, "why", "")
    # The test can fail: without the rule, or with one for another folder, it is asked about.
    assert isinstance(decided(command, standing_plain, cwd=folder), Ask)
    assert isinstance(decided(command, standing_plain, f"write_file:{rule.partition(':')[2]}"), Ask)


@pytest.mark.parametrize(
    ("rule", "command", "allowed"),
    [
        ("shell:ls", "ls -l", False),
        ("shell:git status*", "git statusx", False),
        ("shell:git status*", "git push", False),
        ("shell:foo *", "foo", True),
        ("shell:foo *", "foo a 'b c' --d=e", True),
        ("shell:foo*", "foo a", True),
        ("shell:foo*", "foobar a", False),
        ("shell:foo run*", "foo run:all x", True),
        ("shell:foo * now", "foo a now", True),
        ("shell:foo *.py", "foo src.py", True),
        ("shell:foo *.py", "foo --plugin=evil.py", False),
        ("shell:foo * now", "foo a b now", False),
        ("shell:foo * now", "foo now", False),
        ("shell:foo src/*.py", "foo src/a.py", True),
        ("shell:foo src/*.py", "foo src/a.py src/b.py", False),
        ("shell:foo src/*", "foo src/../x", False),
        ("shell:foo src/*", "foo src/a,../x", False),
        ("shell:foo --to=*", "foo --to=..", False),
        ("shell:foo -C*", "foo -C..", False),
        ("shell:foo src:*", "foo src:../x", False),
        ("shell:foo -C*", "foo -Ca..b", True),
        ("shell:foo src/*", "foo src/x docs/x", False),
        ("shell:rm build/*", "rm build/x", True),
        ("shell:rm build/*", "rm build/", False),
        ("shell:rm build/*", "rm build//", False),
        ("shell:rm build/*", "rm build/./", False),
        ("shell:ls docs*", "ls docs", True),
        ("shell:ls outside*", "ls outside", False),
        ("shell:pytest outside*", "pytest outside", False),
        ("shell:rm build/*", "rm build/x -rf src", False),
        ("shell:rm build*", "rm build.log", True),
        ("shell:rm build*", "rm build -rf src", False),
        ("shell:foo run a*", "foo run ab c", False),
        ("shell:foo --o=*", "foo --o=x --evil", False),
        ("shell:foo src/*", "foo --all src/x", False),
        ("shell:foo --o=src/*", "foo --o=src/a/../../x", False),
        ("shell:foo *", "foo src/../x", True),
        ("shell:*", "foo", False),
        ("shell:* status", "git status", False),
        ("shell:f*o x", "foo x", False),
        ("shell:foo '*'", "foo a", True),
        ("shell:foo | *", "foo | sh", False),
        ("shell:echo \\*", "echo *", True),
        ("shell:echo \\*", "echo hi", False),
        ("shell:echo '\\*' *", "echo '*' x", True),
        ("shell:git  status", "git status", True),
        ("shell:git status", " git status\n", True),
        ("shell:git status", "git 'status'", True),
        ("shell:git commit*", "git commit -m x", True),
        ("shell:git com*", "git commit -m x", False),
        ("shell:git *", "git commit -m x", False),
        ("shell:python *", "python x.py", False),
        ("shell:npm run env *", "npm run env touch P", False),
        ("shell:npm run test *", "npm run test -- --import=data:x", False),
        ("shell:npm run test *", "npm run test /tmp/none", False),
        ("shell:npm run test *", "npm run test vite.config.ts:3", False),
        ("shell:npm run test *", "npm run test:unit x", False),
        ("shell:npm run te*", "npm run test", True),
        ("shell:npm run te*", "npm run test x", False),
        ("shell:pnpm run test *", "pnpm run test --import=data:x", False),
        ("shell:yarn run test *", "yarn run test", True),
        ("shell:yarn run te*", "yarn run test", False),
        ("shell:yarn run env *", "yarn run env touch P", False),
        ("shell:python x.py", "python x.py", True),
        ("shell:PYTHON3.12 *", "PYTHON3.12 x", False),
    ],
)
def test_a_rule_covers_a_command_by_its_words(
    rule: str, command: str, allowed: bool, work: ToolContext
) -> None:
    assert isinstance(decided(command, work, rule), Allow if allowed else Ask)


@pytest.mark.parametrize(
    ("rule", "folder", "allowed"),
    [
        ("shell", "sub", True),
        ("shell:git status *", "sub", False),
        ("shell:git status", "sub", False),
        ("shell@sub:git status", "sub", True),
        ("shell@sub:git *", "sub", True),
        ("execute@sub:git *", "sub", True),
        ("shell@sub", "sub", True),
        ("shell@sub", ".", False),
        ("shell@sub:git status", ".", False),
        ("shell@.:git status", ".", True),
        ("shell@/:git status", ".", False),
        ("shell@/:git status", "/", True),
        ("shell@sub:git status", "docs", False),
        ("shell@su*:git status", "sub", False),
        ("shell", "outside", False),
        ("shell@outside:git status", "outside", False),
        ("shell@{elsewhere}:git status", "outside", True),
        ("shell@{elsewhere}", "outside", True),
    ],
)
def test_a_rule_holds_in_the_folder_that_it_names(
    rule: str, folder: str, allowed: bool, work: ToolContext
) -> None:
    named = rule.replace("{elsewhere}", os.path.realpath(work.cwd.parent / "elsewhere"))
    found = decided("git status", work, named, cwd=folder)
    assert isinstance(found, Allow if allowed else Ask)


@pytest.mark.parametrize(
    ("command", "folder", "similar"),
    [
        ("git status -s", ".", "shell:git status *"),
        ("git stash list", ".", "shell:git stash list *"),
        ("git status", ".", "shell:git status *"),
        # A rule that names these covers deleting, too.
        ("git branch", ".", ""),
        ("git branch -a", ".", ""),
        ("git tag", ".", ""),
        ("rg foo src", ".", "shell:rg *"),
        ("ls", "docs", "shell@docs:ls *"),
        ("/usr/bin/git log -3", ".", "shell:/usr/bin/git log *"),
        ("git commit -m x", ".", ""),
        ("git log --output=P", ".", ""),
        ("git --no-pager log", ".", ""),
        ("cat outside/secret", ".", ""),
        ("python x.py", ".", ""),
        ("pytest -q", ".", ""),
        ("rm x", ".", ""),
        ("foo x", ".", ""),
        ("ls | sh", ".", ""),
        ("./test x", ".", ""),
        ("sub/file x", ".", ""),
        ("/srv/bin/ls x", ".", ""),
        ("gid x", ".", ""),
    ],
)
def test_the_question_offers_exactly_this_and_what_is_safe(
    command: str, folder: str, similar: str, work: ToolContext
) -> None:
    asked = decided(command, work, cwd=folder)
    assert isinstance(asked, Ask)
    ids = [option.option_id for option in asked.options]
    offered = ["allow_similar"] if similar else []
    assert ids == ["allow_once", "allow_always", *offered, "reject_once", "reject_always"]
    assert asked.rules.get("allow_similar", "") == similar
    names = {option.option_id: option.name for option in asked.options}
    where = "" if folder == "." else f" in {folder}"
    assert names["allow_always"] == f"Always allow exactly this{where}"
    if similar:
        assert names["allow_similar"] == f"Always allow {similar.partition(':')[2]}{where}"
    for rule in {asked.rules["allow_always"], similar} - {""}:
        assert decided(command, work, rule, cwd=folder) == Allow()
        assert isinstance(decided(command, work, rule, cwd="sub"), Ask)
    assert isinstance(
        decided(command, work, cwd=folder, reject=(asked.rules["reject_always"],)), Refuse
    )


def test_always_is_not_offered_where_a_rule_could_not_say_it(work: ToolContext) -> None:
    # A rule is read without its own sign for `*`, so that this one would allow `sh x.sh`.
    asked = decided("sh \ue000x.sh", work)
    assert isinstance(asked, Ask)
    assert [option.option_id for option in asked.options] == ["allow_once", "reject_once"]


@pytest.mark.parametrize("target", ["/proc/self/cwd/f", "//proc/self/cwd/f", "sub/way"])
def test_a_link_that_is_another_for_each_process_is_asked_about(
    target: str, work: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To this process it leads into the workspace."""
    monkeypatch.chdir(work.cwd)
    (work.cwd / "sub/way").symlink_to("/proc/self/cwd/a")
    (work.cwd / "own").symlink_to(target)
    for command in ("cat own", "cat sub/../own", "grep x -- ./own"):
        assert isinstance(decided(command, work, "shell:cat *", "shell:grep *"), Ask)
    (work.cwd / "plain").symlink_to("sub/../f")
    assert decided("cat plain", work, "shell:cat *") == Allow()


def test_a_star_behind_a_name_that_is_spelt_in_part_covers_no_link_out(
    work: ToolContext, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("")
    (work.cwd / "led").symlink_to(tmp_path / "secret")
    (work.cwd / "led2").write_text("")
    for rule in ("shell:cat led* *", "shell:cat led*"):
        assert isinstance(decided("cat led", work, rule), Ask), rule
    assert decided("cat led2 f", work, "shell:cat led* *") == Allow()


def test_a_rule_holds_in_a_workspace_in_shared_memory_too(context: ToolContext) -> None:
    if not MEMORY.is_dir():
        pytest.skip("this system has no /dev/shm")
    with TemporaryDirectory(dir=MEMORY) as folder, TemporaryDirectory(dir=MEMORY) as other:
        there = replace(context, cwd=Path(folder))
        (there.cwd / "f").write_text("")
        (there.cwd / "own").symlink_to("/dev/fd/3")
        (there.cwd / "way").symlink_to("/dev/null")
        assert decided("cat f", there, "shell:cat *") == Allow()
        for name in ("own", "way", f"../{Path(other).name}"):
            assert isinstance(decided(f"cat {name}", there, "shell:cat *"), Ask), name


def test_the_reason_is_told(work: ToolContext) -> None:
    asked = decided("find . -delete", work, "shell:ls *", "shell:find *")
    assert isinstance(asked, Ask)
    assert asked.why.startswith("the rule shell:find * does not cover it: `find -delete`: -exec")
    nameless = decided("ls", work, "shell:*")
    assert isinstance(nameless, Ask)
    assert nameless.why.startswith("the rule shell:* does not cover it: it names no program")
    plain = decided("find . -delete", work, "shell:ls *")
    assert isinstance(plain, Ask)
    assert plain.why == ""


def test_every_entry_has_a_reason_and_is_found_by_any_of_its_names() -> None:
    for name, program in PROGRAMS.items():
        assert program.why
        assert known(name) is program
        assert known(f"/usr/local/bin/{name}") in (program, None) or "/" in name
    assert known("python3.11") is PROGRAMS["python"]
    assert known("gsed") is PROGRAMS["sed"]
    assert known("GIT.exe") is PROGRAMS["git"]
    assert known("no-such-program") is None


NASTY = st.lists(
    st.sampled_from(
        ["ab", "c.d", "-x", "--y=z", "'a b'", '"c d"', " ", " ", " ", " ", " ",
         "  ", "\t", "\n", "\r", "'", '"', "\\", "$", "`", "*", "?", "[", "]", "{", "}", "~",
         "!", "#", "&", "|", ";", "<", ">", "(", ")", "=", ":", ",", "@", "%", "^", "+", "-", "--",
         ".", "/", "a", "b", "x=1", "HOME", "$'", '$"', "{a,b}", "1", "2", "é", "\xa0", "\u2028",
         "\ufeff", "\x1b", "\x85", "if", "time", "''", '""', "a~", "=~"]
    ),
    max_size=12,
)  # fmt: skip


@given(NASTY)
@settings(max_examples=examples(300), deadline=None)
def test_the_shell_sees_the_words_that_were_compared(pieces: list[str]) -> None:
    """The same command is given to real shells, which print the arguments that they make of it."""
    command = "args " + "".join(pieces)
    words = plain_words(command)
    if not words:
        return
    told = {shell: _arguments(shell, command) for shell in ("bash", "sh")}
    assert all(seen == words[1:] for seen in told.values()), (command, told)


def _arguments(shell: str, command: str) -> tuple[str, ...]:
    program = "args() { [ $# -eq 0 ] || printf '%s\\0' \"$@\"; }\n"
    ran = subprocess.run(
        [shell, "-c", program + command], capture_output=True, text=True, timeout=20, check=True
    )
    assert not ran.stderr
    return tuple(ran.stdout.split("\0")[:-1])


@pytest.mark.parametrize(
    "command",
    ["args a 'b c' \"d e\" --f='g h' 1 HEAD~1 a^b x%y @z a:b,c +d", "args", "args '' \"\"",
     "args 'é ü' '*' '{a,b}' '~' '#'"],
)  # fmt: skip
def test_shells_agree_with_what_is_literal(command: str) -> None:
    words = plain_words(command)
    assert words
    for shell in ("bash", "sh"):
        assert _arguments(shell, command) == words[1:]


def test_no_word_is_known_where_letters_reach_the_shell_as_others() -> None:
    # In Japan's encodings of old `¥` is a backslash to a shell. What C's locale is stands for them.
    own = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    script = (
        "import sys; from sidecar.tools.rules.shell_words import plain_words as words;"
        r"print(sys.getfilesystemencoding(), words('echo \'\xa5\''), words('echo x'))"
    )
    told = [
        subprocess.run(
            [sys.executable, "-P", "-c", script],
            env={**os.environ, **variables}, capture_output=True, text=True, timeout=60, check=True,
        ).stdout.split(maxsplit=1)
        for variables in (own, {**own, "PYTHONUTF8": "1"})
    ]  # fmt: skip
    assert told[1] == ["utf-8", "('echo', '\xa5') ('echo', 'x')\n"]
    if sys.platform == "linux":
        assert told[0][0] != "utf-8"
        assert told[0][1] == "() ('echo', 'x')\n"


@pytest.mark.parametrize("program", ["rm", "eslint"])
def test_a_word_of_hundreds_of_folders_is_not_looked_at(program: str, plain: ToolContext) -> None:
    """To look at 5,000 took 48 s."""
    for folders, found in ((90, Allow), (400, Ask)):
        word = f"{'a/' * folders}b.js"
        assert isinstance(decided(f"{program} {word}", plain, f"shell:{program} *"), found)


def test_git_is_told_to_leave_other_repositories_alone() -> None:
    given = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "user.name", "GIT_CONFIG_VALUE_0": "Ada"}
    environment = scrubbed({**given, "PATH": os.environ["PATH"], "GIT_EXTERNAL_DIFF": "x"})
    assert "GIT_EXTERNAL_DIFF" not in environment
    for name, value in (
        ("user.name", "Ada"),
        ("core.fsmonitor", "false"),
        ("safe.bareRepository", "explicit"),
    ):
        asked = subprocess.run(
            ["git", "config", "--get", name],
            env=environment, capture_output=True, text=True, timeout=20, check=True,
        )  # fmt: skip
        assert asked.stdout.strip() == value


def test_a_daemon_starts_without_the_parser() -> None:
    script = (
        "import sys, sidecar.daemon.serving; print([m for m in sys.modules if 'tree_sitter' in m])"
    )
    ran = subprocess.run(
        [sys.executable, "-P", "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    assert ran.stdout.strip() == "[]"


@pytest.mark.parametrize("command", ["rm -rf x\\\n", "rm -rf x\\", "rm -rf x"])
def test_a_blank_behind_a_backslash_is_the_commands(command: str, plain: ToolContext) -> None:
    """`x\\ ` names another file than `x`, which is named by `x` and a continued line, too."""
    asked = decided("rm -rf x\\ ", plain)
    assert isinstance(asked, Ask)
    for rule in (*asked.rules.values(), "shell:rm -rf x\\\\ "):
        assert isinstance(decided(command, plain, rule), Ask)


@pytest.mark.parametrize("blank", [" ", "\t"])
def test_a_blank_behind_a_here_documents_end_is_the_commands(
    blank: str, plain: ToolContext
) -> None:
    command = "bash <<'make'\nls\nmake"
    assert decided(command, plain, f"shell:{command}") == Allow()
    assert isinstance(decided(command + blank, plain, f"shell:{command}"), Ask)


def test_a_text_that_the_grammar_is_long_with_is_asked_about(
    work: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten thousand signs as `|!` took two seconds of all windows."""
    text = "echo " + ")$" * 4000
    assert isinstance(decided(text, work, "shell", reject=("shell:git push *",)), Ask)
    monkeypatch.setattr(shell_words, "MOST_TIME", -1.0)
    rest = "a " * 2000
    assert isinstance(decided(f"ls {rest}", work, "shell:ls *"), Ask)
    monkeypatch.undo()
    assert isinstance(decided(f"ls {rest} b", work, "shell:ls *"), Allow)

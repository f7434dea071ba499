"""Tells which failed calls succeeded later.

A failure is a lesson while nothing of it went through; a mere look teaches none.
"""

import re
from collections.abc import Collection, Iterator, Sequence, Set
from functools import lru_cache

from sidecar.core.conversation.call_outcome import argument, refused, result_text
from sidecar.core.conversation.complaints import all_passed, lacking, places, unlike
from sidecar.core.files.shell_writes import patched, simple, split
from sidecar.core.late_pattern import late_pattern
from sidecar.core.ledger.deeds import (
    EDITS,
    LISTERS,
    PATCHES,
    READERS,
    SEARCHERS,
    SHELLS,
    WEB,
    Deed,
    TouchedFile,
    own_name,
)
from sidecar.core.parts import Json, ToolPart

_LONGEST = 2_000
"""Characters of a command that are compared."""
_FILTER = late_pattern(
    r"\|&?\s*(?:tail|head|grep|egrep|rg|cat|less|more|tee|sed|awk|wc|sort|uniq|cut|tr|jq|column)\b"
    r"(?:'[^']*'|\"[^\"]*\"|[^|&;\n'\"])*"
)
_ASIDE = late_pattern(r"\d?>&\d|&?\d?>>?\s*[^\s|&;]+|;\s*echo\b[^;|&\n]*|\|\|\s*true\b")
_BEFORE = late_pattern(r"^(?:cd\s+[^&;\n]+(?:&&|;|\n)|timeout\s+\S+|[A-Za-z_]\w*=\S*\s|sudo\s)\s*")
_SCRIPT = late_pattern(r"<<-?\s*['\"]?\w+.*", re.S)
PLANS = frozenset({"exitplanmode", "exit_plan_mode", "plan_exit", "present_plan", "submit_plan"})
"""Tools that ask whether a plan is well: each asks the same, whatever the plan."""
_LOOKERS = READERS | LISTERS | SEARCHERS | WEB
_SYNTAX = frozenset({
    "!", "{", "}", "(", ")", "if", "then", "elif", "else", "fi", "while", "until", "do", "done",
    "time", "sudo", "command", "env",
})  # fmt: skip
_NO_STEP = frozenset({
    "for", "case", "esac", "cd", "pushd", "popd", "source", ".", "set", "export", "local",
    "read", "wait", "exit", "return", "shift", "trap", "true", "false", "sleep", "echo",
    "printf", "pwd", "which", "type", "test", "[", "[[", "cat", "head", "tail", "nl", "ls",
    "rg", "grep", "egrep", "fgrep", "find", "tree", "wc", "sort", "uniq", "cut", "tr", "jq",
    "column", "less", "more", "bat", "diff", "cmp", "stat", "file", "du", "df", "ps", "pgrep",
    "lsof", "date", "basename", "dirname", "realpath", "readlink", "awk", "tee", "xargs",
})  # fmt: skip
"""Words of a shell's own, and programs that only look or pass on."""
_LOOKS = frozenset({
    "show", "view", "list", "ls", "status", "log", "diff", "get", "describe", "info", "search",
    "checks", "grep", "blame", "help", "version", "ls-files", "ls-tree", "ls-remote",
    "rev-parse", "cat-file", "merge-base", "capture-pane", "--help", "--version", "-h",
    "--get", "--get-all", "--list",
})  # fmt: skip
"""Words after a program by which the program only looks."""
_HANDLE_FILES = frozenset({
    "rm", "mv", "cp", "mkdir", "rmdir", "touch", "ln", "chmod", "chown", "sed", "patch", "tar",
})  # fmt: skip
"""Programs that mean the same whatever word comes next."""
_INTERPRETERS = frozenset({
    "python", "python3", "node", "bun", "deno", "ruby", "perl", "bash", "sh", "zsh", "tsx",
    "php",
})  # fmt: skip
"""Programs that are what the script is that comes next."""
_SCRIPTED = _INTERPRETERS - {"bash", "sh", "zsh"}
_INLINE = frozenset({"-c", "-e", "-p", "-r", "-", "--eval", "--print"})
"""Words by which an interpreter takes the script that comes next, or its input."""
_LAUNCHED = 3
"""Words before an interpreter that another program starts, as `npx tsx`."""
_CHANGES = late_pattern(
    r"write|unlink|\bremove|rename|mkdir|rmtree|subprocess|system|exec|spawn|commit|insert|update|"
    r"delete|\bpost\b|\bput\b|assert|['\"][wax]b?['\"]",
    re.I,
)
"""In a script: it does more than look."""
_SENDS = late_pattern(r"-\w*[dFToOX]|--(?:data|form|json|output|request|upload|remote-name).*")
"""Options of curl by which more comes of it than what is shown."""
_RUNNERS = ("run", "exec", "-m")
_NESTED = ("gh", "docker", "kubectl", "aws", "az", "gcloud")
"""Programs whose commands have two words."""
_CHECK = "check"
"""Achieved by an output that says what passed."""
_CHANGED = frozenset({"*"})
"""Of a failed check: one of the files was changed since."""
_REPORTS_EXIT = late_pattern(r"\$(?:LASTEXITCODE\b|\?|\{?PIPESTATUS\b)")
_WANTS_FAILURE = late_pattern(
    r"\b(?:check|verify|confirm|prove|show|test|see|expect\w*|should|must|ensure)\b[^.\n]{0,60}?\b(?:"
    r"(?:failure|error|rejection|refusal) (?:message|output|path|text|mode)s?\b|"
    r"(?:is|are|be|gets?) (?:rejected|refused|denied)\b|(?:it|that [^.\n]{1,40}) fails\b|"
    r"(?<=should )fail\b|(?<=must )fail\b|(?<=expected to )fail\b|non-?zero\b)",
    re.I,
)
"""Said of a command that prints how it ended: that it fails is no failure, but the proof."""
_INSTALLS = late_pattern(r"\b(?:install|add|i)\b")
_INSTALLED = late_pattern(r"[@\w][@\w/-]*")
_BARE = late_pattern(r"[a-z][\w:-]*")
_TO_COMMIT = frozenset({
    "clone", "init", "add", "rm", "mv", "checkout", "switch", "restore", "reset", "stash", "merge",
    "rebase", "cherry-pick", "revert", "am", "apply", "pull", "commit",
})  # fmt: skip
"""What git does towards a commit, so that a later one shows that there was a way."""
_GIT_AROUND = frozenset(f"git {word}" for word in _TO_COMMIT - {"commit"})
_GIT_COMPLAINS = late_pattern(r"^(?:fatal: |error: |CONFLICT )", re.M)


def attempt_of(part: ToolPart) -> str:
    """Gives a text, equal for calls that try the same."""
    name, given = own_name(part.name), part.input
    if name in SHELLS:
        return attempt(part.name, _command(given))
    if name in EDITS and (patch := _patch(given)):
        return attempt(part.name, " ".join(sorted({path for path, _ in patched(patch)})))
    return attempt(part.name, argument(given))


@lru_cache(maxsize=8_192)
def attempt(tool: str, tried: str) -> str:
    """Does as `attempt_of`, from tool and argument; empty if `tried` was cut.

    A command counts without pipes, a here-document as the program running the script.
    """
    name = own_name(tool)
    if name in PLANS:
        return "plan"
    if not tried or tried.endswith("…"):
        return ""
    if name in SHELLS:
        return f"run {_core(tried)}"
    if name in EDITS:
        return f"edit {tried}"
    return f"read {tried}" if name in READERS else f"{tool} {tried}"


def _command(given: Json) -> str:
    said = given
    if isinstance(given, dict):
        said = next((given[key] for key in ("command", "cmd", "commands") if key in given), "")
    return " ".join(map(str, said)) if isinstance(said, list) else str(said)


def _core(command: str) -> str:
    text = _SCRIPT.sub("<<", command[:_LONGEST].strip())
    text = _ASIDE.sub(" ", _FILTER.sub(" ", text))
    before = None
    while before != text:
        before, text = text, _BEFORE.sub("", text.strip())
    return " ".join(text.split())


def _patch(given: Json) -> str:
    if isinstance(given, dict):
        given = next((given[key] for key in PATCHES if isinstance(given.get(key), str)), "")
    return given if isinstance(given, str) else ""


def needs(part: ToolPart) -> frozenset[str]:
    """Gives steps that must succeed to overcome a failed call; none if it only looked.

    Marked steps are other cures: one `+` step, or a change of one `*` file and a check that passed.
    """
    name = own_name(part.name)
    if refused(part):
        return frozenset({attempt_of(part) or f"refused {part.id}"})
    if name in SHELLS:
        command, text = _command(part.input), result_text(part)
        if _is_wanted(part.input, command):
            return frozenset()
        # Of a probe only what it lacked is a lesson.
        probes = not lacking(text) and not _CHANGES.search(command)
        steps = frozenset(_programs(command, probes=probes))
        if not _GIT_COMPLAINS.search(text):
            # What git did around has no part in why the others failed.
            steps = (steps - _GIT_AROUND) or steps
        return steps and steps | _instead(text)
    if name in EDITS:
        patch = _patch(part.input)
        paths = [path for path, _ in patched(patch)] if patch else [argument(part.input)]
        sight = "sight" if unlike(result_text(part)) else "file"
        return frozenset(f"{sight} {_base(path)}" for path in paths)
    return frozenset() if name in _LOOKERS else frozenset({_use(part)})


def _is_wanted(given: Json, command: str) -> bool:
    """Whether a call expects failure, and its command prints how it ended."""
    said = given.get("description") if isinstance(given, dict) else None
    comments = "\n".join(re.findall(r"(?m)^[ \t]*#[ \t]*(.+)$", command[:_LONGEST]))
    wants = _WANTS_FAILURE.search(f"{said}\n{comments}")
    return bool(wants and _REPORTS_EXIT.search(command))


def _instead(text: str) -> Set[str]:
    lacks = {f"+install {name}" for name in lacking(text)}
    return lacks or {f"*{_file(name)}" for name in places(text)}


def achieved(part: ToolPart, deeds: tuple[Deed, ...]) -> frozenset[str]:
    """Gives attempts that a successful call proves possible, or makes irrelevant."""
    found = {attempt_of(part)}
    for deed in deeds:
        if isinstance(deed, TouchedFile):
            name = _base(deed.path)
            found.add(f"sight {name}")
            if deed.operation != "read":
                found.add(_file(name))
            if deed.operation == "deleted":
                found |= {f"{program} {name}" for program in _INTERPRETERS}
    if own_name(part.name) in SHELLS:
        command = _command(part.input)
        found.update(_programs(command))
        if not found.isdisjoint(("git commit", "git push")):
            found |= {f"git {word}" for word in _TO_COMMIT}
        if _INSTALLS.search(command):
            found |= {f"install {word}" for word in _INSTALLED.findall(command[:_LONGEST])}
        if all_passed(result_text(part)):
            found.add(_CHECK)
    else:
        found.add(_use(part))
    return frozenset(found - {""})


def is_overcome(same: str, missing: Collection[str], done: Collection[str]) -> bool:
    """Whether a failed attempt, or each of its steps, succeeded later."""
    if same in done or all(step in done for step in missing if step[0] not in "+*"):
        return True
    if _CHECK in done and any(
        step in _CHANGED or step[1:] in done for step in missing if step[0] == "*"
    ):
        return True
    return any(step[1:] in done for step in missing if step[0] == "+")


def still_missing(missing: frozenset[str], done: Collection[str]) -> frozenset[str]:
    files = {step for step in missing if step[0] == "*"}
    if any(step[1:] in done for step in files):
        missing = missing - files | _CHANGED
    return missing - frozenset(done)


def _file(path: str) -> str:
    """Names a file without folders: the right folder overcomes a mistyped one."""
    return f"file {_base(path)}"


def _base(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def _use(part: ToolPart) -> str:
    return f"use {part.name} {argument(part.input)}"


def _programs(command: str, *, probes: bool = False) -> Iterator[str]:
    """Gives programs that a command runs to do something, with subcommands.

    `probes`: omits inline scripts and requests, which only look.
    """
    text, _ = split(command[:_LONGEST])
    for words, _ in simple(text):
        if (step := _program(words)) and not (probes and _is_probe(words)):
            yield step


def _is_probe(words: Sequence[str]) -> bool:
    for number, word in enumerate(words[: _LAUNCHED + 1]):
        if _base(word) == "curl":
            return not any(_SENDS.fullmatch(given) for given in words[number + 1 :])
        if _base(word) in _SCRIPTED:
            return not _INLINE.isdisjoint(words[number + 1 : number + 2] or ("-",))
    return False


def _program(words: Sequence[str]) -> str:
    while words and (words[0] in _SYNTAX or "=" in words[0]):
        words = words[1:]
    if words[:1] == ["timeout"]:
        words = words[2:]
    if not words or words[0] in _NO_STEP or words[0].startswith("-"):
        return ""
    name = _base(words[0])
    if name == "git" and words[1:2] in (["-C"], ["-c"]):
        words = [name, *words[3:]]
    if name == "sed" and not any(word.startswith(("-i", "--in-place")) for word in words):
        return ""
    if name in _HANDLE_FILES:
        return name
    rest = list(words[1:])
    if not _LOOKS.isdisjoint(rest[:2]) or not _LOOKS.isdisjoint(w for w in rest if w[:1] == "-"):
        return ""
    said = [name]
    while rest and rest[0] in _RUNNERS:
        said.append(rest.pop(0))
    first = next((word for word in rest if word[:1] != "-"), "")
    if name in _INTERPRETERS and len(said) == 1 and rest[:1] not in (["-c"], ["-e"]):
        said.append(_base(first))
    elif _BARE.fullmatch(first):
        said.append(first)
        second = rest[rest.index(first) + 1 :][:1]
        if name in _NESTED and second and _BARE.fullmatch(second[0]):
            said.append(second[0])
    return " ".join(said)

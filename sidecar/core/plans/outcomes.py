"""Tells calls' outcomes: files, commits, ends of commands, failures."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import field, replace
from functools import lru_cache, partial
from itertools import islice
from typing import Literal, TypeAlias

from sidecar.core.conversation.call_outcome import WRAPPING, one_line
from sidecar.core.conversation.complaints import passes
from sidecar.core.dataclass import dataclass
from sidecar.core.files.shell_writes import commands_alone
from sidecar.core.late_pattern import late_pattern
from sidecar.core.ledger.deeds import SEARCHERS, Operation, TouchedFile, own_name
from sidecar.core.ledger.net_changes import MOST_NAMED, NetHunk, net_changes
from sidecar.core.ledger.units import Unit, overcome
from sidecar.core.parts import HeldText, PartId

COMMAND, CAME, SUBJECT, MADE = 100, 80, 100, 60
"""Characters of a command, of the last line of its output, of a commit's subject, and of the
first two where something was made, as these are many."""
SOON, LEAST_SHARED = 6, 2
"""Calls after a failed one among which its remedy may be, and words that it shares."""
TRIED, CALLED = 2, 36
"""Calls that are named where nothing came of any and no more went, else one; characters of each
and of its result."""
LATEST = 6
"""Calls of a gap among which those are looked for."""
OutcomeKind: TypeAlias = Literal["changed", "history", "made", "check", "ran"]
"""`history`: of the repository; `made`: or ended, outside of files, as an issue or a session;
`check`: its output says what passed."""

_LOOKS = late_pattern(
    r"(?:cd\s+\S+\s*(?:&&|;)\s*)?(?:cat|sed -n|head|tail|nl|ls|rg|grep|find|wc|pwd|which|echo|tree|"
    r"git (?:-C \S+ )?(?:show|diff|log|status|grep|branch|ls-files)|"
    r"gh (?:pr|issue|run) (?:view|list|diff|checks)|[^|&;]* --help)\b"
)
"""Commands that only look: what they showed is left out, and nothing came of them."""
_GIT = r"\bgit(?: -[cC] \S+)* "
_IN_FOLDER = late_pattern(r"(?<=\bgit) -C \S+")
_COMMITS = late_pattern(_GIT + r"commit\b")
_COMMITTED = late_pattern(r"^\[\S+(?: \(root-commit\))? ([0-9a-f]{7,40})\] (.+)$", re.M)
_HEREDOC = r"<<-?\s*['\"]?\w+['\"]?[^\n]*\n\s*"
_MESSAGE = late_pattern(
    rf"\s-[a-zA-Z]*m[ =]*['\"]?(?:\$\(cat {_HEREDOC})?([^\"'\n]+)|{_HEREDOC}([^\n]+)"
)
_HISTORY = late_pattern(
    _GIT + r"(?:push|merge|rebase|reset|revert|restore|cherry-pick|checkout|switch|pull|am|apply|"
    r"tag (?!-l)|branch -[dDmM]|worktree (?:add|remove)|stash(?: (?:push|pop|drop|apply|save))?"
    r"(?! (?:list|show)))(?![-\w])(?:(?!\s*\d?>)[^&|;\n])*"
)
_DID = (
    (late_pattern(r"\bstash (?:pop|drop)"), late_pattern(r"^Dropped (?:refs/)?stash", re.M)),
    (late_pattern(r"\bstash\b"), late_pattern(r"^Saved working directory", re.M)),
    (late_pattern(r"\breset\b"), late_pattern(r"^HEAD is now at ", re.M)),
    (late_pattern(r"\b(?:switch|checkout)\b"), late_pattern(r"^Switched to ", re.M)),
    (late_pattern(r"\b(?:merge|pull)\b"), late_pattern(r"^(?:Fast-forward|Merge made by )", re.M)),
)
"""Commands of git, and what git says once they went through."""
_OR_ELSE = late_pattern(r"\|\|\s*(?:[({][^)}\n]*|[^&|;\n]*)\Z")
"""Before a command that runs only where another failed."""
_NO_MAKERS = (
    r"rg|grep|egrep|ag|ack|echo|printf|cat|ls|find|man|which|cd|git|test|sed|awk|head|tail|wc|type|"
    r"for|while|if|until|case|function|export|local|rm|mkdir|make"
)
_MAKES = late_pattern(
    rf"^[ \t]*(?:sudo )?(?!(?:{_NO_MAKERS})\b)[a-z][\w.-]* "
    r"(?:(?!dep\b|deps\b|label\b|remote\b|config\b)[a-z][\w-]* )?(?:create|close|reopen|"
    r"delete|remove|destroy|kill(?:-\w+)?|new-(?:session|window)|merge|publish|deploy|apply)"
    r"(?![\w.=/-])(?![^\n]*--(?:help|dry-run)\b)|^[ \t]*(?:sudo )?(?:p?kill|killall)\b"
)
"""A simple command that makes or ends what is no file: `gh issue create`, `tmux kill-session`."""
_STEP = late_pattern(r"[^;&|()\n]+")
_JOINS = late_pattern(r"&&|[;\n]")
_WORDS = late_pattern(r"(?=[^\s'\"|&;()<>]{5})[^\s'\"|&;()<>/.:=@_-]*[/.:=@_-][^\s'\"|&;()<>]*")
_THERE = late_pattern(r"^cd [^&;]+(?:&&|;)")
_HASH = late_pattern(r"\b([0-9a-f]{9})[0-9a-f]{3,55}\b")
_LASTED = late_pattern(
    r"\s+(?:in )?(?:\(?\d+(?:\.\d+)?m?s\)?(?=[\s:;,.)`]|$)|\d+(?:\.\d+)? seconds?\b)"
)
END = 4_000
"""Characters of an output's end in which its result stands."""
MOST_ENDS = 2_048
"""Outputs whose results are remembered."""
_COUNTED = late_pattern(
    r"\b\d+ (?:\w+ )?(?:pass(?:ed|ing|es)?|fail(?:ed|ures?|ing|s)?|errors?|problems?|issues?)\b|"
    r"^(?:test result:|OK\b(?: \(|$)|FAILED \()",
    re.I,
)
_ALONE = late_pattern(r"\d+ \w+")
_OFFERS = late_pattern(r"\bfixable\b|\bwarning\b.*:\d|^\W*warning", re.I)
_ASIDE = late_pattern(
    r"\bwarn(?:ing)?s?\b|\bdeprecat|^(?:npm notice|hint:|note:|\(node:\d+\))|^> |^\[[\w:.-]+\] \$|"
    r"^Use \W.*--help|^Destroying test database",
    re.I,
)
"""Warnings, hints, and commands that are repeated."""
_SAYS = late_pattern(r"^(?!\[?[\"{]).*\w|^\[\]$")
"""Not brackets alone, nor a line of data."""
_SPINS = late_pattern("[\u2800-\u28ff]")


@dataclass(frozen=True, slots=True)
class Outcome:
    """A call's outcome, in a line; `deed` for files only."""

    kind: OutcomeKind
    text: str
    deed: TouchedFile | None = None


@dataclass(frozen=True, slots=True)
class Upshot:
    """Outcomes of all calls, in view or not.

    `failures`: calls not overcome; `cures`: by failed call, the later success in its place; `net`:
    by file, the hunks that stand.
    """

    failures: frozenset[PartId]
    cures: Mapping[PartId, Unit] = field(default_factory=dict)
    outcomes: Mapping[PartId, tuple[Outcome, ...]] = field(default_factory=dict)
    net: dict[str, list[NetHunk]] = field(default_factory=dict)


def failures_in(units: Sequence[Unit]) -> Upshot:
    failed = frozenset(unit.part_id for unit in units if unit.failed and unit.kind == "call")
    return Upshot(failed - overcome(units) if failed else failed)


def upshot_of(units: Sequence[Unit]) -> Upshot:
    came = {unit.part_id: tuple(outcomes(unit)) for unit in units if unit.kind == "call"}
    replaced = ((unit.part_id, one) for unit in units for one in unit.replaced)
    found = failures_in(units)
    cures = cures_of(units, found.failures) if found.failures else {}
    return replace(found, cures=cures, outcomes=came, net=net_changes(replaced))


def cures_of(units: Sequence[Unit], failures: Set[PartId]) -> Mapping[PartId, Unit]:
    calls = [unit for unit in units if unit.kind == "call"]
    return {
        unit.part_id: cure
        for number, unit in enumerate(calls)
        if unit.part_id in failures and not unit.refused
        for cure in islice(
            filter(partial(_in_its_place, unit), calls[number + 1 : number + 1 + SOON]), 1
        )
    }


def _in_its_place(failed: Unit, later: Unit) -> bool:
    """Whether `later` went through with the same tool, or half of a command's words."""
    if later.tool != failed.tool or later.status != "ok":
        return False
    if failed.means != "shell":
        return failed.means == "tool"
    if _LOOKS.match(later.argument):
        return False
    words, others = (set(_WORDS.findall(_THERE.sub("", unit.argument))) for unit in (failed, later))
    shared = len(words & others)
    return shared >= LEAST_SHARED and 2 * shared >= min(len(words), len(others))


def outcomes(unit: Unit) -> Iterator[Outcome]:
    """Gives a call's outcomes in order.

    A failed call has those that its output shows, one broken off none.
    """
    if unit.failed and unit.means == "shell" and not unit.refused:
        yield from _before_it_failed(unit)
    if unit.failed or unit.running or unit.status == "interrupted":
        return
    for deed in unit.changed:
        yield Outcome("changed", f"{deed.operation} {deed.path}", deed)
    if unit.means != "shell":
        return
    history = [Outcome("history", _told(text)) for text in _history(unit)]
    yield from history
    made = _made(unit.call or unit.argument)
    if not made and (unit.changed or history or _LOOKS.match(unit.argument)):
        return
    came, is_check = _came_to(unit.held)
    said = _ran(made, MADE) if made else _ran(unit.argument)
    if came and not _SPINS.search(came):
        said += f" → {one_line(came, MADE if made else CAME)}"
    yield Outcome("made" if made else "check" if is_check else "ran", _told(said))


@lru_cache(maxsize=2_048)
def _made(command: str) -> str:
    steps = _STEP.finditer(commands_alone(command))
    made = [command[step.start() : step.end()] for step in steps if _MAKES.match(step[0])]
    return made[-1] if made else ""


class _Ends:
    """Remembers results of outputs, as each plan asks for all commands.

    Keeps outputs' hashes (64 bits) and lengths only.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], tuple[str, bool]] = {}

    def of(self, text: HeldText) -> tuple[str, bool]:
        key = hash(text), len(text)
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= MOST_ENDS:
                self._known.clear()
            end = str(text)[-END:]
            found = self._known[key] = _result(end), passes(end)
        return found


_came_to = _Ends().of


def _result(text: str) -> str:
    """Gives the last counts of passes and failures, or the last plain line."""
    lines = [line for raw in text[-END:].splitlines() if (line := raw.strip())]
    lines = [line for line in lines if not WRAPPING.fullmatch(line)]
    short = (line for line in lines if len(line) <= 2 * CAME and _SAYS.search(line))
    counted = [line for line in short if _COUNTED.search(line) and not _OFFERS.search(line)]
    if counted:
        # As Bun has it: `5 pass` and `0 fail` are lines of their own.
        alone = [line for line in counted[-3:] if _ALONE.fullmatch(line)]
        return ", ".join(alone) if alone[-1:] == counted[-1:] else counted[-1]
    plain = (line for line in reversed(lines) if not _ASIDE.search(line))
    last = next(plain, "")
    return last if _SAYS.search(last) else ""


def _told(text: str) -> str:
    return _HASH.sub(r"\1", _LASTED.sub("", text))


def _before_it_failed(unit: Unit) -> Iterator[Outcome]:
    done = [_committed(*made) for made in _COMMITTED.findall(unit.text)]
    for ran, _ in _steps(unit.call):
        says = next((said for verbs, said in _DID if verbs.search(ran)), None)
        if says and says.search(unit.text):
            done.append(_ran(ran))
    if done:
        done[-1] += f" (of the same command failed: {one_line(unit.error, CAME)})"
    yield from (Outcome("history", _told(text)) for text in done)


def _committed(name: str, subject: str) -> str:
    return f"committed {name[:9]}: {one_line(subject, SUBJECT)}"


def _ran(command: str, most: int = COMMAND) -> str:
    return f"ran `{one_line(command, most)}`"


def _history(unit: Unit) -> Iterator[str]:
    command = unit.call or unit.argument
    if "git" not in command:
        return
    if commit := _COMMITS.search(commands_alone(command)):
        made = _COMMITTED.findall(unit.text)
        yield from (_committed(name, subject) for name, subject in made)
        message = _MESSAGE.search(command, commit.end())
        if not made and message:
            yield f"committed: {one_line(message[1] or message[2], SUBJECT)}"
        elif not made:
            yield "committed"
    for ran, at in _steps(command):
        perhaps = "perhaps " if _OR_ELSE.search(command, 0, at) else ""
        yield f"{perhaps}{_ran(ran)}"


def _steps(command: str) -> Iterator[tuple[str, int]]:
    found = _HISTORY.finditer(commands_alone(command)) if "git" in command else ()
    return ((command[match.start() : match.end()], match.start()) for match in found)


def told_changes(deeds: Iterable[TouchedFile]) -> str:
    """Tells changes as `edited a, b; moved c to d`: each file once, none that came and went."""
    came: set[str] = set()
    now: dict[str, Operation] = {}
    for deed in deeds:
        path, how = deed.path.replace("\\", "/").rstrip("/"), deed.operation
        if path not in now and how == "created":
            came.add(path)
        if path in came and how == "deleted":
            now.pop(path, None)
        elif now.get(path) != "created" or how == "deleted":
            now[path] = how
    moved = _moved(now)
    told: dict[str, list[str]] = {}
    for path, how in now.items():
        if path in moved:
            folder, _, name = moved[path].rpartition("/")
            told.setdefault(f"moved to {short(folder)}:", []).append(name)
        elif path not in moved.values():
            told.setdefault(how, []).append(short(path))
    return "; ".join(f"{verb} {_listed(names)}" for verb, names in told.items())


def tried(units: Sequence[Unit], many: int, told: set[str], *, sure: bool) -> str:
    """Names the newest of `many` calls without outcome, and how they ended.

    `told` gathers what gaps say: each call is told once, except in a `sure` gap.
    """
    most = TRIED if many <= TRIED else 1
    named: list[str] = []
    last = ""
    for unit in islice((u for u in reversed(units) if u.kind == "call"), LATEST):
        name = f"{_called(unit)}{_ended(unit)}"
        last = last or name
        if name not in told:
            told.add(name)
            named.insert(0, name)
        if len(named) == most:
            break
    if sure and last and not named:
        named = [last]
    return ", ".join([*["…"][: many > len(named) > 0], *named])


def _called(unit: Unit) -> str:
    paths = unit.touched
    given = _IN_FOLDER.sub("", unit.argument)
    if own_name(unit.tool) in SEARCHERS:
        given = unit.call.partition("\n")[0] or given
    what = short(paths[0].replace("\\", "/")) if paths else one_line(given, CALLED)
    named = f"`{what}`" if unit.means == "shell" and not paths else f"{unit.tool} {what}".rstrip()
    return _told(named)


def _ended(unit: Unit) -> str:
    end = _end(unit)
    return f" → {end}" if end else ""


def _end(unit: Unit) -> str:
    if unit.running:
        return "still running"
    if unit.refused or unit.status == "interrupted":
        return "refused" if unit.refused else "broken off"
    if unit.failed and unit.means == "shell" and _JOINS.search(unit.argument):
        error = one_line(unit.error, CAME)
        return _told(error if error.startswith("exit ") else f"{unit.status}: {error}")
    if unit.failed or unit.status != "ok":
        return unit.status if unit.failed else "nothing found"
    if unit.means == "read":
        return ""
    came, is_check = _came_to(unit.held) if unit.means == "shell" else ("", False)
    if is_check:
        return _told(one_line(came, CALLED))
    if len(unit.text) > END:
        return f"{unit.text.count(chr(10))} lines"
    lines = [line for raw in unit.text.splitlines() if (line := raw.strip())]
    said = [line for line in lines if not WRAPPING.fullmatch(line)]
    one = _told(said[0]) if len(said) == 1 else ""
    if said and not 0 < len(one) <= CALLED:
        return f"{len(said)} line{'s' * (len(said) > 1)}"
    return one or "no output"


def _listed(names: Iterable[str]) -> str:
    once = list(dict.fromkeys(names))
    more = [f"{len(once) - MOST_NAMED} before"] if len(once) > MOST_NAMED else []
    return ", ".join([*more, *once[-MOST_NAMED:]])


def _moved(now: Mapping[str, Operation]) -> dict[str, str]:
    made = {_name(path): path for path, how in now.items() if how == "created"}
    gone = (path for path, how in now.items() if how == "deleted" and _name(path) in made)
    return {path: made[_name(path)] for path in gone}


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def short(path: str) -> str:
    return "/".join(path.split("/")[-2:]) or "."

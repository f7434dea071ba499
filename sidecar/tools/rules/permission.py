"""Decides by rules whether a call may run; asks nobody.

Rules' form: docs/reference/permissions.md. A rule for writing never covers files that run later
(`tools/rules/runs_later`), and files of unknown kind (`tools/rules/ordinary_files`) only by name.
`*` covers one simple command of literal words (`tools/rules/shell_words`), but for
`tools/rules/tables/programs`.
"""

import re
from collections.abc import Mapping
from dataclasses import field, replace
from functools import lru_cache
from typing import TypeAlias, get_args

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import ToolKind
from sidecar.core.prompt.prompt import ToolSpec
from sidecar.core.text.visible import plain_path
from sidecar.tools.builtin_tools import BY_NAME, DELEGATE
from sidecar.tools.rules.coverage import (
    changes,
    is_systems,
    known,
    led_astray,
    uncovered,
    wider,
    without_pager,
)
from sidecar.tools.rules.ordinary_files import OBEYED, ODD, are_covered, are_settings
from sidecar.tools.rules.other_spellings import Spellings, other_spellings
from sidecar.tools.rules.pattern import (
    climbs,
    fits,
    literal,
    rejected_paths,
    stands_for,
    upward,
    with_stars,
)
from sidecar.tools.rules.rejecting import hits, may_hit
from sidecar.tools.rules.runs_later import runs_later_as
from sidecar.tools.rules.shell_words import STAR, plain_words, trimmed
from sidecar.tools.tool_contract import Access, PermissionOption

_ASKING = ("edit", "execute")
_HIDING = re.compile(r"`|\$[({\[]|[<>]\(")
"""Text that is run or replaced on reading a quoted word again."""

_HIDDEN = "it does not show which programs it runs, and a rule rejects some"
_MAY_RUN = "its program may run words that the rule {} rejects"
_ALIKE = {"search": "read_file", "list_files": "read_file", "write_file": "edit_file"}
_ALIKE |= {"edit_file": "write_file read_file"}
"""Other tools that a rule means: searches and failing edits show lines."""


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules from the configuration and the user's answers."""

    allow: tuple[str, ...] = ()
    reject: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Allow:
    """The call may run."""


@dataclass(frozen=True, slots=True)
class Ask:
    """The user must decide.

    `rules`: added by `always` answers, by option id. `why`: the part that keeps rules from covering
    the call, or "".
    """

    title: str
    options: tuple[PermissionOption, ...]
    rules: Mapping[str, str] = field(default_factory=dict)
    why: str = ""


@dataclass(frozen=True, slots=True)
class Refuse:
    """The call may not run; the model gets the reason."""

    reason: str


PermissionDecision: TypeAlias = Allow | Ask | Refuse

_ONCE = (
    PermissionOption("allow_once", "Allow once", "allow_once"),
    PermissionOption("reject_once", "Reject", "reject_once"),
)


def decide(spec: ToolSpec, access: Access, rules: Rules, trusted: bool) -> PermissionDecision:
    """Reading inside the workspace, todo and recall are free.

    A subtask costs money, so asks, trusted or not. In an untrusted workspace, built-in tools that
    edit or execute are refused; a client's tools, run by the client, only ask.
    """
    if access.problem:
        return Allow()
    ours = spec.origin == "builtin"
    acting = access.kind in _ASKING
    if acting and not trusted and ours:
        return Refuse(
            "This workspace is not trusted, so nothing is run or changed in it. Tell the user, "
            "who can trust it in the editor (workspaceTrusted)."
        )
    if any(_rejects(rule, spec, access) for rule in rules.reject):
        return Refuse("A rule of the user rejects this call. Do it another way, or ask the user.")
    spending = ours and spec.name == DELEGATE
    if not (acting or spending or access.outside):
        return Allow()
    if access.kind == "edit" and (later := runs_later_as(access.shown, access.linked)):
        why = f"runs later: {later}"
        return Ask(f"{access.title} ({why})", _ONCE, why=why)
    if access.command and (why := _doubt(spec, access, rules.reject)):
        named = tuple(rule for rule in rules.allow if _knows(rule, access))
        if not _allowed(spec, access, named):
            return replace(_question(spec, access, named), why=why)
    if _allowed(spec, access, rules.allow):
        return Allow()
    return _question(spec, access, rules.allow)


def remember(rules: Rules, key: str, allowed: bool) -> Rules:
    allow = tuple(rule for rule in rules.allow if rule != key)
    reject = tuple(rule for rule in rules.reject if rule != key)
    if allowed:
        return replace(rules, allow=(*allow, key), reject=reject)
    return replace(rules, allow=allow, reject=(*reject, key))


# --- the question ----------------------------------------------------------------------------


def _question(spec: ToolSpec, access: Access, allow: tuple[str, ...]) -> Ask:
    key, odd = _key(spec, access), _is_odd(access)
    similar = _wider(spec, access)
    said = access.held or (OBEYED if similar else ODD)
    why = said if odd else _shortfall(spec, access, allow)
    title = f"{access.title} ({said})" if odd else access.title
    if not key:
        return Ask(title, _ONCE, why=why)
    answers = {"allow_always": key, "reject_always": key}
    what = "path" if access.outside or odd else "tool"
    what = f"exactly this{_where(access)}" if access.command else f"this {what}"
    options = [_ONCE[0], PermissionOption("allow_always", f"Always allow {what}", "allow_always")]
    if similar:
        answers["allow_similar"] = similar
        name = f"Always allow {similar.partition(':')[2]}{_where(access)}"
        options.append(PermissionOption("allow_similar", name, "allow_always"))
    never = PermissionOption("reject_always", f"Always reject {what}", "reject_always")
    options += [_ONCE[1], never]
    return Ask(title, tuple(options), answers, why)


def _where(access: Access) -> str:
    return f" in {access.shown[0]}" if access.command and access.shown != (".",) else ""


def _key(spec: ToolSpec, access: Access) -> str:
    named = access.outside or (access.shown if _is_odd(access) else ())
    if not (access.command or named):
        return spec.name if _names(spec.name, spec) else ""
    tool, text = spec.name, named[0] if len(named) == 1 else ""
    if access.command:
        tool, text = _at(spec, access), trimmed(access.command)
    # Rules are read without this sign, so this one would change its meaning.
    plain = STAR not in text and (access.command or text == text.strip())
    return f"{tool}:{literal(text)}" if tool and text and plain else ""


def _at(spec: ToolSpec, access: Access) -> str:
    folder = access.shown[0] if len(access.shown) == 1 else ""
    if not folder or re.search(r"[:\\*]", folder) or folder != folder.strip():
        return ""
    return spec.name if folder == "." else f"{spec.name}@{folder}"


def _wider(spec: ToolSpec, access: Access) -> str:
    names = (*access.shown, *access.linked)
    inside = len(access.shown) == 1 and not access.outside
    if inside and _is_odd(access) and all(map(are_settings, names)):
        folder, _, name = access.shown[0].rpartition("/")
        like = f"{spec.name}:{literal(folder)}/*.{name.rpartition('.')[2]}"
        return like if _covers(like, spec, access) else ""
    beginning = wider(access.words) if access.words else ()
    rule = f"{_at(spec, access)}:{' '.join((*beginning, '*'))}"
    return rule if beginning and not _problem(rule, access) else ""


def _shortfall(spec: ToolSpec, access: Access, allow: tuple[str, ...]) -> str:
    for rule in allow:
        if access.command and _names(rule, spec) and (problem := _problem(rule, access)):
            return f"the rule {rule} does not cover it: {problem}"
    return ""


# --- rules that allow ------------------------------------------------------------------------


def _knows(rule: str, access: Access) -> bool:
    """Whether a rule covers a command not comparable with a rejecting rule.

    Such a rule has the whole command, or a program of the table.
    """
    _, colon, pattern = rule.partition(":")
    name = access.words[0] if access.words else ""
    of_table = is_systems(name) and known(name) is not None
    return bool(colon) and (of_table or STAR not in with_stars(pattern))


def _allowed(spec: ToolSpec, access: Access, allow: tuple[str, ...]) -> bool:
    if access.command:
        return any(_names(rule, spec) and _problem(rule, access) == "" for rule in allow)
    # Several paths may each be covered by another rule.
    each = [
        replace(
            access, paths=(path,), shown=(name,), outside=(path,) if path in access.outside else ()
        )
        for path, name in zip(access.paths, access.shown, strict=True)
    ] or [access]
    return all(any(_covers(rule, spec, one) for rule in allow) for one in each)


def _covers(rule: str, spec: ToolSpec, access: Access) -> bool:
    tool, colon, pattern = rule.partition(":")
    if "@" in tool or not _names(rule, spec):
        return False
    if not colon:
        return not (access.outside or _is_odd(access))
    if access.outside and not pattern.startswith("/"):
        return False
    if STAR in with_stars(pattern) and _is_odd(access, pattern):
        return False
    return bool(access.paths) and all(_hits(pattern, access))


def _is_odd(access: Access, pattern: str = "") -> bool:
    names = (*access.shown, *access.linked) if access.kind == "edit" else ()
    return bool(names and access.held) or not are_covered(names, pattern)


def _problem(rule: str, access: Access) -> str | None:
    """Says why a rule does not cover a command; `None` if unrelated."""
    tool, colon, pattern = rule.partition(":")
    _, at, folder = tool.partition("@")
    if not colon and not at:
        return None if access.outside else ""
    if not _stands_in(folder, access):
        return None
    if not colon:
        return ""
    pieces = with_stars(pattern)
    if STAR not in pieces:
        text = trimmed(pieces)
        same = text == trimmed(access.command)
        return "" if same or (access.words and access.words == _rule_words(text)) else None
    return _starred(_rule_words(pieces), access)


def _starred(rule: tuple[str, ...], access: Access) -> str | None:
    if not rule or not access.words:
        return None
    words = without_pager(access.words, rule)
    named, open_end = _named(rule)
    if STAR in named[0]:
        return "it names no program; a rule without a pattern covers every command"
    if len(words) < len(named) or not (open_end or len(words) == len(named)):
        return None
    pairs = list(zip(named, words, strict=False))
    # `rm build/*` covers files in the folder, not the folder.
    whole = any(_is_folder(one, word) for one, word in pairs)
    if whole or not all(stands_for(one, word) for one, word in pairs):
        return None
    parts = [pair for pair in pairs if STAR in pair[0] and pair[0] not in (STAR, pair[1] + STAR)]
    if climbing := next((word for one, word in parts if climbs(one, word)), ""):
        return f"`{climbing}` climbs out of what the rule names"
    starred = (i for i, one in enumerate(named) if STAR in one)
    closed = open_end and rule[-1] != STAR  # As in `git status*`, which names `status`.
    own = next((i for i in starred if not (closed and named[i] == words[i] + STAR)), len(named))
    if hidden := next((word for word in words if _HIDING.search(word)), ""):
        return f"`{hidden}` hides what might be replaced or run"
    if known(words[0]) is not None and (away := {words[0], *words[own:]} & {*access.strays}):
        return f"`{min(away)}` leads out of the workspace"
    for name in access.linked:
        if why := led_astray(words, name):
            return f"by another name it is `{name}`, {why}"
    held = access.held and changes(words)
    return f"it may write what {access.held}" if held else uncovered(words, own)


def _is_folder(one: str, word: str) -> bool:
    """Whether a word is the named files' folder: `build/`, `build/.` of `build/*`."""
    return one.endswith("/" + STAR) and not word.removeprefix(one[:-1]).strip("./")


def _named(rule: tuple[str, ...]) -> tuple[tuple[str, ...], bool]:
    if rule[-1] == STAR:
        return rule[:-1] or (STAR,), True
    if not rule[-1].endswith(STAR):
        return rule, False
    # The program is never guessed: `ls*` is `ls *`.
    if len(rule) == 1:
        return (rule[0].removesuffix(STAR),), True
    # `git status*` is `git status *`; `rm build*` allows no other file.
    program = known(rule[0])
    of_subcommand = len(rule) == 2 and (program is None or bool(program.subcommands))
    return rule, of_subcommand and not re.search("[/=]", rule[-1])


def _stands_in(folder: str, access: Access) -> bool:
    """Whether a rule's folder, else the root, is the command's; none is of invalid bytes."""
    where = access.shown[0] if len(access.shown) == 1 else ""
    named = folder.removeprefix("./").rstrip("/") or ("/" if folder[:1] == "/" else ".")
    return where == named and "\\" not in where


# --- rules that reject, and patterns ----------------------------------------------------------


def _rejects(rule: str, spec: ToolSpec, access: Access) -> bool:
    tool, _, pattern = rule.partition(":")
    name, at, folder = tool.partition("@")
    pattern = pattern.strip()
    alike = _ALIKE.get(spec.name, "").split() if pattern else ()
    if not any(_means(name, one) for one in (spec, *(BY_NAME[one] for one in alike))):
        return False
    if at and not (access.command and _stands_in(folder, access)):
        return False
    if access.command or not pattern:
        return not pattern or hits(with_stars(pattern), _spellings(access))
    ways = rejected_paths(pattern)
    names = {plain_path(name) for name in (*access.paths, *access.shown, *access.spelt)}
    # Who lists or searches a folder sees all that `secrets/**` forbids.
    wholes = {way.removesuffix(f"/{STAR}") for way in ways}
    return any(fits(whole, name) for whole in wholes for name in names) or any(
        fits(way, up) for way in ways for name in names for up in upward(name)
    )


def _spellings(access: Access) -> Spellings:
    folder = "" if access.shown == (".",) else "".join(access.shown[:1])
    return other_spellings(access.command, access.words, folder)


def _doubt(spec: ToolSpec, access: Access, reject: tuple[str, ...]) -> str:
    """Says why some rule may reject a command; "" if none can."""
    compared = [rule for rule in reject if _compares(rule, spec)]
    if not compared:
        return ""
    spelt = _spellings(access)
    if spelt.hidden:
        return _HIDDEN
    patterns = ((rule, with_stars(rule.partition(":")[2].strip())) for rule in compared)
    found = (rule for rule, one in patterns if may_hit(one, spelt))
    return _MAY_RUN.format(first) if (first := next(found, "")) else ""


def _compares(rule: str, spec: ToolSpec) -> bool:
    tool, _, pattern = rule.partition(":")
    return bool(pattern.strip()) and _means(tool.partition("@")[0], spec)


def _means(name: str, spec: ToolSpec) -> bool:
    """Compares names in any case, with stars; `mcp__SERVER` means all tools of a server."""
    pieces = with_stars(name.strip().casefold())
    if spec.origin == "mcp" and spec.name.casefold().startswith(f"{pieces}__"):
        return True
    return any(fits(pieces, one.casefold()) for one in (spec.name, spec.kind))


def _names(rule: str, spec: ToolSpec) -> bool:
    """Whether a rule is about a tool; by kind only for built-in tools, with known effects."""
    tool = rule.partition(":")[0].partition("@")[0]
    if spec.origin == "builtin" or tool == "*":
        return tool in ("*", spec.name, spec.kind)
    # A client may call a tool as rules call a kind, or a server's tool.
    posed = tool in get_args(ToolKind) or (spec.origin != "mcp" and tool.startswith("mcp__"))
    return tool == spec.name and not posed


def _hits(pattern: str, access: Access) -> list[bool]:
    pieces = with_stars(pattern)
    if pattern.startswith("/"):
        return [fits(pieces, path) for path in access.paths]
    # `*/src/*` means `src/a.py`, too, and no folder above the workspace.
    return [fits(pieces, name) or fits(pieces, f"/{name}") for name in access.shown]


@lru_cache(maxsize=512)
def _rule_words(pieces: str) -> tuple[str, ...]:
    return plain_words(pieces, rule=True)

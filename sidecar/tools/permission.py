r"""Whether a call may run: a pure decision over rules. Nobody is asked here.

A rule is `TOOL` or `TOOL:PATTERN`. TOOL is a tool's name, a kind (read, edit, search, execute,
other) or `*`. `*` in PATTERN stands for any characters, `\*` for a star, `\\` for a backslash.

- `write_file` covers every call of the tool inside the workspace, and nothing outside of it.
- `edit:src/*` covers paths inside the workspace; `read:/etc/hosts` names one outside, by its
  resolved path. Only a pattern that begins with `/` reaches outside.
- `shell:git status*` covers commands. Its `*` never stands for what begins another command or
  writes a file (`;`, `&`, `|`, `<`, `>`, a backtick, `$(`, `${`, a line's end), so that no
  command can be hung onto an allowed one. In a rule that rejects, it stands for anything.

A rule that rejects goes before one that allows.
"""

import re
from dataclasses import dataclass, replace
from typing import TypeAlias

from sidecar.core.prompt import ToolSpec
from sidecar.tools.catalogue import DELEGATE
from sidecar.tools.contract import Access, PermissionOption

_ASKING = ("edit", "execute")
_ANY = r".*"
_HARMLESS = r"(?:(?<!\$)[({]|[^({;&|`<>\r\n\0])*"


@dataclass(frozen=True, slots=True)
class Rules:
    """What the configuration and the user's earlier answers allow and reject."""

    allow: tuple[str, ...] = ()
    reject: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Allow:
    """The call may run."""


@dataclass(frozen=True, slots=True)
class Ask:
    """The user decides. `remember_key` is the rule that `always` answers add; empty for none."""

    title: str
    options: tuple[PermissionOption, ...]
    remember_key: str


@dataclass(frozen=True, slots=True)
class Refuse:
    """The call may not run; the model is told the reason."""

    reason: str


Decision: TypeAlias = Allow | Ask | Refuse

_ONCE = (
    PermissionOption("allow_once", "Allow once", "allow_once"),
    PermissionOption("reject_once", "Reject", "reject_once"),
)


def decide(spec: ToolSpec, access: Access, rules: Rules, trusted: bool) -> Decision:
    """Decide on a call. Reading inside the workspace, todo and recall are free.

    A subtask touches nothing by itself but spends, so that it asks, trusted or not. An untrusted
    workspace refuses our own tools that edit or execute. A client's tools run in the client, so
    those only ask.
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
    if any(_matches(rule, spec, access, _ANY, some=True) for rule in rules.reject):
        return Refuse("A rule of the user rejects this call. Do it another way, or ask the user.")
    spending = ours and spec.name == DELEGATE
    if not (acting or spending or access.outside):
        return Allow()
    if _allowed(spec, access, rules.allow):
        return Allow()
    key = _key(spec, access)
    what = "command" if access.command else "path" if access.outside else "tool"
    return Ask(access.title, _options(key, f"this {what}"), key)


def remember(rules: Rules, key: str, allowed: bool) -> Rules:
    """Add an `always` answer. The newest answer replaces an opposite one."""
    allow = tuple(rule for rule in rules.allow if rule != key)
    reject = tuple(rule for rule in rules.reject if rule != key)
    if allowed:
        return replace(rules, allow=(*allow, key), reject=reject)
    return replace(rules, allow=allow, reject=(*reject, key))


def literal(text: str) -> str:
    """Write text as a pattern that matches it alone."""
    return re.sub(r"[\\*]", r"\\\g<0>", text)


def _options(key: str, what: str) -> tuple[PermissionOption, ...]:
    if not key:
        return _ONCE
    return (
        _ONCE[0],
        PermissionOption("allow_always", f"Always allow {what}", "allow_always"),
        _ONCE[1],
        PermissionOption("reject_always", f"Always reject {what}", "reject_always"),
    )


def _key(spec: ToolSpec, access: Access) -> str:
    if access.command:
        # A command in a folder outside cannot be told from the same one inside by a rule.
        return "" if access.outside else f"{spec.name}:{literal(access.command.strip())}"
    if access.outside:
        return f"{spec.name}:{literal(access.outside[0])}" if len(access.outside) == 1 else ""
    return spec.name


def _allowed(spec: ToolSpec, access: Access, allow: tuple[str, ...]) -> bool:
    if access.command and access.outside:
        return False
    # Several paths may each be covered by another rule.
    each = [
        replace(
            access, paths=(path,), shown=(name,), outside=(path,) if path in access.outside else ()
        )
        for path, name in zip(access.paths, access.shown, strict=True)
    ] or [access]
    return all(any(_matches(rule, spec, one, _HARMLESS) for rule in allow) for one in each)


def _matches(rule: str, spec: ToolSpec, access: Access, star: str, some: bool = False) -> bool:
    """Whether a rule covers a call: all of its paths, or with `some` any of them."""
    tool, colon, pattern = rule.partition(":")
    if tool not in ("*", spec.name, spec.kind):
        return False
    if not colon:
        return some or not access.outside
    if access.command:
        return _compile(pattern, star).fullmatch(access.command.strip()) is not None
    if access.outside and not pattern.startswith("/") and not some:
        return False
    expression = _compile(pattern, _ANY)
    hits = [
        expression.fullmatch(path) is not None or expression.fullmatch(name) is not None
        for path, name in zip(access.paths, access.shown, strict=True)
    ]
    return bool(hits) and (any(hits) if some else all(hits))


def _compile(pattern: str, star: str) -> re.Pattern[str]:
    pieces = re.findall(r"\\[\\*]|\*+|.", pattern, re.DOTALL)
    return re.compile("".join(_piece(piece, star) for piece in pieces), re.DOTALL)


def _piece(piece: str, star: str) -> str:
    if piece.startswith("*"):
        return star
    return re.escape(piece[1:] if len(piece) == 2 else piece)

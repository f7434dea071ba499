"""Finds rejecting rules that can hit nothing, so forbid nothing."""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Final, get_args

from sidecar.core.parts import ToolKind

WITH_COMMANDS: Final = ("shell",)
WITH_PATHS: Final = ("edit_file", "list_files", "read_file", "search", "write_file")
OTHERS: Final = ("delegate", "recall", "todo")
_KNOWN = ("*", *WITH_COMMANDS, *WITH_PATHS, *OTHERS, *get_args(ToolKind))
_MCP = "mcp__x__x"
_ALSO_CALLED: Mapping[str, str] = {
    "bash": "shell",
    "terminal": "shell",
    "run": "shell",
    "write": "write_file",
    "ls": "list_files",
    "glob": "list_files",
    "grep": "search",
    "task": "delegate",
    "fetch": "execute",
}
"""Names of other agents' tools, and ours."""
_BARE = re.compile(r"[\w.+/-]+(?: [a-z0-9][\w-]*){,2}")
"""A program, and its subcommand."""
_BETWEEN = re.compile(r"(?<!\\)[|;&<>]+")
"""Signs of a shell's between commands."""
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_NO_WORD = re.compile(
    r":\*$|:$|\{[^{}\s]*,[^{}]*\}|^[\^!]|`|^\$\s|\.\*|\[[\w-]+\](?=\w)|\\(?![\\*(){};!])|^/.*/$|\w\?:"
)
"""Signs of no word of a command: of other agents' rules, globs, expressions, and a shell's."""
_ONE_NAME = re.compile(r"([\"'])(\w+ [^\"']*)\1")
"""A quoted command, which is one word."""
_NO_SIGN = re.compile(
    r"\?|\{[^{}]*,[^{}]*\}|\$\w+|\$\{\w+\}|^[\"'!^]|^file:|\.\*/|\\(?![\\*])|\[([A-Za-z])(?i:\1)\]"
)
"""Signs of a shell's in a path."""
_STARRED = re.compile(r"__((?=[^_]*\*)(?=[^_]*[^\w*-])[^_]*)__", re.ASCII)
"""A server or tool with a star, and a sign replaced in names."""
_IN_BRACKETS = re.compile(r"([\w*]+)\((.*)\)", re.DOTALL)


def doubted(rules: object) -> str:
    """Says which rules hit nothing, and their likely meaning; empty without any."""
    listed = rules if isinstance(rules, tuple) else ()
    return " ".join(doubt for rule in listed if (doubt := _doubt(rule)))


def _doubt(rule: str) -> str:
    tool, colon, pattern = rule.partition(":")
    name, at, folder = tool.partition("@")
    plain = name.strip().casefold()
    if other := _IN_BRACKETS.fullmatch(rule.strip()):
        meant = _ours(other[1].casefold()) or other[1]
        text = re.sub(r":\*$", " *", other[2])
        return f"{rule!r} rejects nothing: it is no form of a rule.{_question(f'{meant}:{text}')}"
    mcp = plain.startswith("mcp__") or ("*" in plain and fnmatchcase(_MCP, plain))
    if plain.startswith("mcp__") and (odd := _STARRED.search(f"__{plain[5:]}__")):
        return f"{rule!r} rejects nothing: it has `*` and what no name of a tool has: {odd[1]}"
    ours = [one for one in _KNOWN if plain == one or fnmatchcase(one, plain)]
    if not (ours or mcp):
        meant = f"{near}{rule[len(name) :]}" if (near := _ours(plain)) else ""
        why = f"no tool of Sidecar's and no kind is called {name!r}"
        return f"{rule!r} rejects nothing of ours: {why}.{_question(meant)}"
    if (colon and pattern.strip()) and (not ours or set(ours) <= set(OTHERS)):
        # What a server or a tool of its is called may have a colon.
        nothing = "nothing but what is called so" if plain.startswith("mcp__") else "nothing"
        why = f"{name!r} has no command and no path to compare"
        return f"{rule!r} rejects {nothing}: {why}.{_question(name)}"
    if at and ours and not {"*", "execute", *WITH_COMMANDS} & set(ours):
        return f"{rule!r} rejects nothing: a folder behind `@` counts for commands alone."
    if at and "*" in folder:
        return f"{rule!r} rejects nothing: a folder behind `@` has no `*`."
    if ours and {*ours} <= {"execute", *WITH_COMMANDS}:
        return _doubt_of_commands(rule, tool, pattern.strip())
    if {*ours} <= {*WITH_PATHS, "read", "edit"} and (sign := _NO_SIGN.search(pattern.strip())):
        why = f"rejects nothing but paths with {sign[0]} in them: a rule knows `*` and `~/` alone"
        return f"{rule!r} {why}."
    return ""


def _doubt_of_commands(rule: str, tool: str, pattern: str) -> str:
    if _BARE.fullmatch(pattern):
        why = f"rejects nothing but `{pattern}` without words behind it"
        return f"{rule!r} {why}.{_question(f'{rule} *')}"
    if spaced := _ONE_NAME.match(pattern):
        plain = spaced[2].rstrip(" *")
        why = f"rejects nothing: no program is called `{plain}`"
        return f"{rule!r} {why}.{_question(f'{tool}:{plain} *')}"
    if sign := _BETWEEN.search(_QUOTED.sub("", pattern)):
        why = f"rejects next to nothing: commands are compared one by one, without `{sign[0]}`"
        first = _BETWEEN.split(pattern)[0].strip(" *")
        return f"{rule!r} {why}.{_question(f'{tool}:{first} *' if first else '')}"
    if sign := _NO_WORD.search(_QUOTED.sub("", pattern)):
        plain = rule.rstrip(":*")
        why = f"rejects nothing but commands with {sign[0]} in them: a rule knows `*` alone"
        return f"{rule!r} {why}.{_question(f'{plain} *' if sign[0][0] == ':' else '')}"
    return ""


def _ours(name: str) -> str:
    near = get_close_matches(name, _KNOWN, n=1, cutoff=0.7)
    return _ALSO_CALLED.get(name) or (near[0] if near else "")


def _question(meant: str) -> str:
    return f" Did you mean {meant!r}?" if meant else ""

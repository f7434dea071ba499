"""Adds to rejecting rules what links in their paths lead to."""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from sidecar.tools.mcp_names import server_prefix, tool_name
from sidecar.tools.rules.pattern import literal
from sidecar.tools.rules.permission import Rules
from sidecar.workspace.paths import display, printable


def as_called(rules: Rules, root: Path, window: Path | None = None) -> Rules:
    """Adds rejecting rules with paths' targets, and with tools' names as calls have them.

    Relative paths count from the session's `root` and from the window's folder. Takes a few calls
    of lstat each.
    """
    starts = dict.fromkeys((root, window or root))
    found = (
        more
        for rule in rules.reject
        for more in (*_named(rule), *(one for start in starts for one in _led(rule, root, start)))
    )
    return replace(rules, reject=tuple(dict.fromkeys((*rules.reject, *found))))


def _named(rule: str) -> Iterator[str]:
    """Yields a rule per possible server and tool, as both names may hold `__`."""
    start, name = rule.strip()[:5], rule.strip()[5:]
    if start.casefold() != "mcp__":
        return
    if name and "*" not in name:
        yield server_prefix(name).removesuffix("__")
    for at in (found.start() for found in re.finditer("(?=__)", name)):
        server, tool = name[:at], name[at + 2 :]
        begun = f"mcp__{server}__" if "*" in server else server_prefix(server)
        named = tool_name(server, tool).removeprefix(server_prefix(server))
        yield f"{begun}{tool if '*' in tool else named}"


def _led(rule: str, root: Path, start: Path) -> Iterator[str]:
    tool, colon, pattern = rule.partition(":")
    name, _, folder = tool.partition("@")
    with suppress(OSError, ValueError):
        if folder:
            real, base = Path(os.path.realpath(start / folder)), Path(os.path.realpath(root))
            led = printable(display(real, base))
            tool = tool if ":" in led else f"{name}@{led}"
            yield f"{tool}{colon}{pattern}"
        if pattern.strip():
            yield f"{tool}:{_real(pattern.strip(), start)}"


def _real(pattern: str, start: Path) -> str:
    whole = re.match(r"(?:\\[\\*]|[^*])*", pattern)
    begun = whole[0] if whole else ""
    rest = pattern[len(begun) :]
    folder, slash, part = begun.rpartition("/") if rest else (begun, "", "")
    real = os.path.realpath(start / re.sub(r"\\([\\*])", r"\1", folder + slash))
    return f"{literal(real.rstrip('/'))}/{part}{rest}"

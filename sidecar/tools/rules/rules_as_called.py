"""Adds to rules what links in their paths lead to."""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path

from sidecar.tools.mcp_names import server_prefix, tool_name
from sidecar.tools.rules.pattern import literal
from sidecar.tools.rules.permission import Rules
from sidecar.workspace.paths import display, printable

MOST_WORDS = 60
"""Of an allowing rule, of which each is looked up in each folder among them."""
_WORD = re.compile(r"[^\s`=:,;|&<>(){}@$*?!+]+")
_QUOTES = str.maketrans("", "", "'\"\\")


def as_called(rules: Rules, root: Path) -> Rules:
    """Adds rejecting rules with paths' targets, and with tools' names as calls have them.

    Also the targets of paths in allowing rules for commands. Takes a few calls of lstat each.
    """
    found = (more for rule in rules.reject for more in (*_named(rule), *_led(rule, root)))
    led = {real for rule in rules.allow for real in _led_by_words(rule, root)}
    reject = tuple(dict.fromkeys((*rules.reject, *found)))
    return replace(rules, reject=reject, led=tuple(sorted(led)))


def _led_by_words(rule: str, root: Path) -> Iterator[str]:
    """Yields link targets of words that are paths, also from folders among them."""
    tool, _, pattern = rule.partition(":")
    name, _, folder = tool.partition("@")
    if name not in ("*", "shell", "execute"):
        return
    base = os.path.realpath(root)
    given = _WORD.findall(pattern.translate(_QUOTES))[:MOST_WORDS]
    # `$PWD/x`, `file://x`, `-fx`
    tails = (word[at.end() :] for word in given for at in islice(re.finditer("/", word), 3))
    words = (".", folder, *given, *tails, *(word[2:] for word in given if word[:1] == "-"))
    with suppress(OSError, ValueError):
        starts = [at for word in words if os.path.isdir(at := os.path.join(base, word))]
        for at in {
            os.path.normpath(os.path.join(start, word)) for start in starts for word in words
        }:
            real = os.path.realpath(at)
            if real != at:
                yield printable(display(Path(real), Path(base)))


def _named(rule: str) -> Iterator[str]:
    """Yields a rule per possible server and tool, as both names may hold `__`."""
    start, name = rule.strip()[:5], rule.strip()[5:]
    if start.casefold() != "mcp__" or ":" in name:
        return
    if name and "*" not in name:
        yield server_prefix(name).removesuffix("__")
    for at in (found.start() for found in re.finditer("(?=__)", name)):
        server, tool = name[:at], name[at + 2 :]
        begun = f"mcp__{server}__" if "*" in server else server_prefix(server)
        named = tool_name(server, tool).removeprefix(server_prefix(server))
        yield f"{begun}{tool if '*' in tool else named}"


def _led(rule: str, root: Path) -> Iterator[str]:
    tool, colon, pattern = rule.partition(":")
    name, _, folder = tool.partition("@")
    with suppress(OSError, ValueError):
        if folder:
            real, base = (Path(os.path.realpath(root / one)) for one in (folder, ""))
            led = printable(display(real, base))
            tool = tool if ":" in led else f"{name}@{led}"
            yield f"{tool}{colon}{pattern}"
        if pattern.strip():
            yield f"{tool}:{_real(pattern.strip(), root)}"


def _real(pattern: str, root: Path) -> str:
    whole = re.match(r"(?:\\[\\*]|[^*])*", pattern)
    begun = whole[0] if whole else ""
    rest = pattern[len(begun) :]
    folder, slash, part = begun.rpartition("/") if rest else (begun, "", "")
    real = os.path.realpath(root / re.sub(r"\\([\\*])", r"\1", folder + slash))
    return f"{literal(real.rstrip('/'))}/{part}{rest}"

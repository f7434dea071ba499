"""Reference pages of docs/: the commands as the parser has them, the settings as declared."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import typer.main

from sidecar.commands.declared.command_line import commands
from sidecar.config.document import told
from sidecar.config.layers import camel
from sidecar.config.setting import Setting
from sidecar.config.settings import SETTINGS

ROOT = Path(__file__).resolve().parent.parent
SETTINGS_PAGE = "docs/reference/settings.md"
COMMANDS_PAGE = "docs/reference/commands.md"
MADE = "<!-- Made by `python -m protocol.generate`. -->"
PLACE = re.compile(rf"(?<={re.escape(MADE)}\n\n).*?(?=\n<!-- end -->)", re.S)
"""The made part of a page whose other parts are written by hand."""

GROUPS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "starting": (
        "Commands to start and set up",
        (
            "serve",
            "wrap",
            "status",
            "stop",
            "demo",
            "doctor",
            "models",
            "config show",
            "config check",
            "config init",
            "completion",
        ),
    ),
    "looking": (
        "Commands to look at sessions",
        ("sessions", "inspect", "report", "audit", "replay"),
    ),
    "going-back": ("Commands to go back", ("checkpoints", "diff", "restore")),
    "keeping": (
        "Commands to move, keep and remove sessions",
        ("export", "import", "sync", "archive", "delete", "prune", "verify"),
    ),
}
"""The pages of commands: title and commands, in the order in which a reader needs them."""

WHEN = {"turn": "next turn", "session": "new sessions", "restart": "after a restart"}
"""When a changed value takes hold, in the words of the table."""
USUAL = "(this system's folder)"
"""Stands for a default that is another on each machine."""

Command: TypeAlias = Any
Parameter: TypeAlias = Any
"""A command of typer's, and an argument or option of one: their types are not public."""


def pages() -> dict[str, str]:
    """Return the text of each reference page that is made, by its path in the repository.

    Raises:
        ValueError: A command is on no page, or a page names one that is not there.
    """
    known = dict(_commands(typer.main.get_command(commands())))
    placed = [name for _, names in GROUPS.values() for name in names]
    if sorted(placed) != sorted(known):
        raise ValueError(f"commands and GROUPS differ: {sorted(set(placed) ^ set(known))}")
    return {
        COMMANDS_PAGE: _filled(COMMANDS_PAGE, _index(known)),
        **{f"docs/reference/commands/{group}.md": _page(group, known) for group in GROUPS},
        SETTINGS_PAGE: _filled(SETTINGS_PAGE, settings_table()),
    }


def settings_table() -> str:
    """Return the table of all settings."""
    return _table(
        ("setting", "what it may be", "default", "a change holds", "meaning"),
        (_setting(one) for one in SETTINGS.values()),
    )


def _setting(one: Setting) -> tuple[str, ...]:
    own = "; not for a workspace to set" if one.own else ""
    default = f"`{_default(one)}`" if _default(one) else ""
    name, meaning = f"`{camel(one.name)}`", f"{one.meaning}{own}"
    return name, one.reader.kind, default, WHEN[one.applies], meaning


def _default(one: Setting) -> str:
    if isinstance(one.default, Path):
        return USUAL
    return "" if one.default in (None, "", (), {}) else str(told(one.default)).lower()


def _filled(page: str, made: str) -> str:
    return PLACE.sub(lambda _: made, (ROOT / page).read_text("utf-8"))


def _commands(group: Command, before: str = "") -> Iterator[tuple[str, Command]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, f"{before}{name} ")
        else:
            yield f"{before}{name}", command


def _index(known: Mapping[str, Command]) -> str:
    rows = []
    for group, (_, names) in GROUPS.items():
        for name in names:
            at = f"commands/{group}.md#sidecar-{name.replace(' ', '-')}"
            rows.append((f"[`{_usage(name, known[name])}`]({at})", _first_line(known[name])))
    return _table(("command", "what it does"), rows)


def _page(group: str, known: Mapping[str, Command]) -> str:
    title, names = GROUPS[group]
    about = "`--help` behind any of them says the same; [the others](../commands.md)."
    sections = (_section(name, known[name]) for name in names)
    return "\n\n".join((f"# {title}", MADE, about, *sections)) + "\n"


def _section(name: str, command: Command) -> str:
    parts = [f"## sidecar {name}", f"`{_usage(name, command)}`", " ".join(command.help.split())]
    if rows := [*_taken(command)]:
        parts.append(_table(("argument or option", "what it does"), rows).rstrip("\n"))
    return "\n\n".join(parts)


def _usage(name: str, command: Command) -> str:
    arguments = [one for one in command.params if _is_argument(one)]
    words = [_name(one) if one.required else f"[{_name(one)}]" for one in arguments]
    return " ".join((f"sidecar {name}", *words))


def _is_argument(one: Parameter) -> bool:
    return not one.opts[0].startswith("-")


def _name(argument: Parameter) -> str:
    name = str(argument.metavar or argument.name).upper()
    return f"{name.removesuffix('S')}…" if argument.nargs < 0 else name


def _taken(command: Command) -> Iterator[tuple[str, str]]:
    """Yield what a command takes: arguments and options, each with its help."""
    for one in command.params:
        if _is_argument(one):
            yield f"`{_name(one)}`", one.help
            continue
        value = "" if one.is_flag else f" {_value(one, command)}"
        again = " May be given more than once." if one.multiple else ""
        default = f" Default: `{one.default}`." if value and one.default not in (None, "") else ""
        names = " / ".join((*one.opts, *one.secondary_opts))
        yield f"`{names}{value}`", f"{one.help}{again}{default}"


def _value(option: Parameter, command: Command) -> str:
    """Return the kind of an option's value, or its choices: `NUMBER`, `files/both`."""
    shown = option.get_help_record(typer.Context(command))[0]
    kind = re.search(r"<(?:list\[)?([^\]>]+)", shown)
    assert kind is not None, shown
    kinds = {"str": "TEXT", "path": "PATH", "int": "NUMBER", "int range": "NUMBER"}
    return kinds.get(kind[1], kind[1].replace("|", "/"))


def _first_line(command: Command) -> str:
    return str(command.help).partition("\n")[0].rstrip(".")


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    drawn = [f"| {' | '.join(cells)} |" for cells in rows]
    return "\n".join((f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *drawn)) + "\n"

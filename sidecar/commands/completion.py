"""What completes the command line in bash, zsh and fish, made from the declared commands."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

FILES = "*files*"
SESSIONS = "*sessions*"
"""What stands for values that a shell looks up."""
LOOKED_UP = "sidecar sessions --ids --limit 200 2>/dev/null"


@dataclass(frozen=True, slots=True)
class Offer:
    """An option, or a subcommand; `values`: words, `FILES` or `SESSIONS`; `None`: takes none."""

    name: str
    told: str
    values: str | None = None


@dataclass(frozen=True, slots=True)
class CommandOffers:
    """A command by its words; `values` of each argument, the last for all that come."""

    words: str
    options: tuple[Offer, ...]
    arguments: tuple[str, ...]
    subcommands: tuple[Offer, ...] = ()


def script(shell: str, root: Any) -> str:  # noqa: ANN401 - typer's commands are not public
    return _SCRIPTS[shell](list(_walk("", root)))


def _walk(words: str, command: Any) -> Iterator[CommandOffers]:  # noqa: ANN401 - as above
    below: Mapping[str, Any] = getattr(command, "commands", {})
    options = [one for one in command.params if one.opts[0].startswith("-")]
    named = tuple(
        Offer(name, _told(one), None if one.is_flag else _values(one))
        for one in options
        for name in (*one.opts, *one.secondary_opts)
    )
    arguments = tuple(_values(one) for one in command.params if not one.opts[0].startswith("-"))
    subcommands = tuple(Offer(name, _told(one)) for name, one in below.items())
    yield CommandOffers(words, (*named, Offer("--help", "Show help.")), arguments, subcommands)
    for name, one in below.items():
        yield from _walk(f"{words} {name}".strip(), one)


def _told(one: Any) -> str:  # noqa: ANN401 - as above
    first = (one.help or "").partition("\n")[0]
    # Shells give quotes, colons and brackets a meaning of their own.
    return re.sub(r"[^\w ,.;()/-]", "", first)


def _values(one: Any) -> str:  # noqa: ANN401 - as above
    if choices := getattr(one.type, "choices", ()):
        return " ".join(map(str, choices))
    if one.name in ("session", "sessions"):
        return SESSIONS
    return FILES if "path" in type(one.type).__name__.lower() else ""


def _bash(commands: list[CommandOffers]) -> str:
    found = 'COMPREPLY+=($(compgen -W "{}" -- "$now"))'
    looked_up = {
        FILES: "compopt -o default",
        SESSIONS: found.format(f"$({LOOKED_UP} | cut -f1)"),
    }
    cases = _cases(commands, looked_up, found, lambda choices: " ".join(o.name for o in choices))
    return f"""# Completes sidecar in bash.
_sidecar() {{
  local now=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command=""
  COMPREPLY=()
  (( COMP_CWORD > 1 )) && command=${{COMP_WORDS[1]}}
  case "$command" in
    {_groups(commands)}) (( COMP_CWORD > 2 )) && command="$command ${{COMP_WORDS[2]}}" ;;
  esac
{cases}
}}
complete -F _sidecar sidecar
"""


def _zsh(commands: list[CommandOffers]) -> str:
    looked_up = {
        FILES: "_files",
        SESSIONS: f"found=(${{${{(f)\"$({LOOKED_UP})\"}}%%$'\\t'*}}); compadd -a found",
    }

    def named(choices: tuple[Offer, ...]) -> str:
        return " ".join(f"'{one.name}:{one.told}'" for one in choices)

    cases = _cases(commands, looked_up, "found=({}); _describe sidecar found", named)
    return f"""#compdef sidecar
_sidecar() {{
  local now=$words[CURRENT] before=$words[CURRENT-1] command=""
  local -a found
  (( CURRENT > 2 )) && command=$words[2]
  case "$command" in
    {_groups(commands)}) (( CURRENT > 3 )) && command="$command $words[3]" ;;
  esac
{cases}
}}
if [ "$funcstack[1]" = "_sidecar" ]; then _sidecar "$@"; else compdef _sidecar sidecar; fi
"""


def _cases(
    commands: list[CommandOffers],
    looked_up: Mapping[str, str],
    found: str,
    named: Callable[[tuple[Offer, ...]], str],
) -> str:
    """What follows an option that takes a value, else the options, else arguments.

    `found`: a shell's way to offer words, which `named` writes.
    """

    def offered(values: str) -> str:
        return looked_up.get(values) or found.format(values)

    lines = ['  case "$command $before" in']
    for one in commands:
        lines += [
            f'    "{one.words} {option.name}") {offered(option.values)}; return ;;'
            for option in one.options
            if option.values
        ]
    lines += ["  esac", '  case "$command" in']
    for one in commands:
        rest = [offered(values) for values in dict.fromkeys(one.arguments) if values]
        if one.subcommands:
            rest.append(found.format(named(one.subcommands)))
        lines += [
            f'    "{one.words}")',
            f"      if [[ $now == -* ]]; then {found.format(named(one.options))}",
            f"      else {'; '.join(rest) or ':'}; fi ;;",
        ]
    return "\n".join((*lines, "  esac"))


def _groups(commands: list[CommandOffers]) -> str:
    return "|".join(one.words for one in commands if one.subcommands and one.words)


def _fish(commands: list[CommandOffers]) -> str:
    lines = ["# Completes sidecar in fish.", "complete -c sidecar -f"]
    root, *others = commands
    begins = " ".join(one.name for one in root.subcommands)
    lines += [
        f"complete -c sidecar -n 'not __fish_seen_subcommand_from {begins}' "
        f"-a {one.name} -d '{one.told}'"
        for one in root.subcommands
    ]
    for one in others:
        seen = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in one.words.split())
        names = " ".join(below.name for below in one.subcommands)
        lines += [
            f"complete -c sidecar -n '{seen}; and not __fish_seen_subcommand_from {names}' "
            f"-a {below.name} -d '{below.told}'"
            for below in one.subcommands
        ]
        lines += [
            f"complete -c sidecar -n '{seen}' -l {option.name.lstrip('-')} "
            f"{_fish_of(option.values)}-d '{option.told}'"
            for option in one.options
        ]
        lines += [
            f"complete -c sidecar -n '{seen}' " + ("-F" if values == FILES else _fish_words(values))
            for values in dict.fromkeys(one.arguments)
            if values
        ]
    return "\n".join(lines) + "\n"


def _fish_of(values: str | None) -> str:
    if values is None:
        return ""
    return "-r -F " if values == FILES else f"-x {_fish_words(values)} "


def _fish_words(values: str) -> str:
    return f"-a '({LOOKED_UP})'" if values == SESSIONS else f"-a '{values}'"


_SCRIPTS: Mapping[str, Callable[[list[CommandOffers]], str]] = {
    "bash": _bash,
    "zsh": _zsh,
    "fish": _fish,
}

"""Tables of commands: ways around a rule, and ordinary work with the rules that allow it."""

from pathlib import Path

HERE = Path(__file__).parent


def hostile() -> list[str]:
    """Give commands that no rule with a `*` may cover."""
    lines = (HERE / "ways_around.txt").read_text("utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("# ")]


def ordinary() -> list[tuple[str, str, str]]:
    """Give rules, folders and commands that they must cover."""
    found = []
    for line in (HERE / "ordinary_work.txt").read_text("utf-8").splitlines():
        rule, _, command = line.partition(" | ")
        folder = "."
        if command.startswith("docs: "):
            folder, command = "docs", command.removeprefix("docs: ")
        found.append((rule, folder, command))
    return found

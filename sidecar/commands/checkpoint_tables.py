"""Checkpoints, changes and restore outcomes as tables."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from rich import filesize
from rich.table import Table
from rich.text import Text
from sidecar_client.messages import (
    Checkpoint,
    CheckpointListResult,
    FileChange,
    FileDiff,
    RestoredFile,
    RestoredFiles,
    SessionChanges,
)

from sidecar.commands.long_table import LongTable
from sidecar.commands.terminal import shown
from sidecar.core.text.visible import visible

LETTERS = {"created": "A", "modified": "M", "deleted": "D", "renamed": "R", "mode": "mode"}
AUTHORS = {"tool": "magenta", "shell": "yellow", "user": "green", "restore": "cyan"}
WHO = {"tool": "agent's tool", "shell": "agent's shell", "unknown": "a command, or the user"}
WHAT = 32
"""Columns of a turn's first words."""
MOST_FILES = 8
"""Files named per checkpoint."""
FATES = {
    "restored": ("✓", "green"),
    "merged": ("⇄", "cyan"),
    "skipped": ("-", "yellow"),
    "conflicts": ("✗", "red"),
}
SINGULAR = {"conflicts": "conflict"}


def turns_of(checkpoints: Sequence[Checkpoint]) -> Mapping[str, int]:
    names = dict.fromkeys(one.turn_id for one in checkpoints if one.turn_id)
    return {name: number for number, name in enumerate(names, 1)}


def timeline(listed: CheckpointListResult) -> LongTable:
    heads = ("#", "when", "turn", "what", "size", "files")
    table = LongTable(*heads, right=frozenset({0, 2, 4}), most={3: WHAT})
    numbers = turns_of(listed.checkpoints)
    begun: set[str] = set()
    days = {_when(one).date() for one in listed.checkpoints}
    for number, one in enumerate(listed.checkpoints, 1):
        opens = one.turn_id in numbers and one.turn_id not in begun
        begun.add(one.turn_id)
        head = one.checkpoint_id == listed.head
        style = "dim" if one.left is True else ""
        table.add_row(
            Text(f"{'● ' if head else ''}{number}", style="bold cyan" if head else ""),
            f"{_when(one):%H:%M:%S}" if len(days) == 1 else f"{_when(one):%Y-%m-%d %H:%M}",
            str(numbers[one.turn_id]) if opens else "",
            shown(one.title, "bold" if opens and not style else ""),
            _bytes(one.files),
            _files(one.files),
            style=style,
        )
    return table


def below(listed: CheckpointListResult) -> Iterator[Text]:
    legend = Text("author: ", style="dim")
    authors = dict.fromkeys(f.author for one in listed.checkpoints for f in one.files)
    for author in authors:
        legend.append(f"{WHO.get(author, author)}  ", style=AUTHORS.get(author, "blue"))
    if any(one.left is True for one in listed.checkpoints):
        legend.append("dim: left, and can be gone back to")
    if authors:
        yield legend
    changes = listed.changes
    if isinstance(changes, SessionChanges):
        files = len(changes.files)
        said = "nothing" if not files else "1 file" if files == 1 else f"{files} files"
        lines = f", +{changes.additions} -{changes.deletions}" if files else ""
        yield Text(f"of the agent's work stands: {said}{lines}", style="dim")


def heading(file: FileDiff) -> Text:
    drawn = _file(file)
    for number, author in enumerate(file.authors):
        drawn.append(", " if number else "  ")
        drawn.append(WHO.get(author, author), style=AUTHORS.get(author, "blue"))
    return drawn


def diff_lines(diff: str) -> Iterator[Text]:
    for line in diff.removesuffix("\n").split("\n"):
        if line.startswith(("---", "+++")):
            style = "bold"
        else:
            style = {"+": "green", "-": "red", "@": "cyan", "\\": "dim"}.get(line[:1], "")
        yield Text(visible(line, keep="\t"), style=style)


def fates(files: RestoredFiles) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    table.add_column()
    for name, (mark, style) in FATES.items():
        listed: list[RestoredFile] = getattr(files, name)
        for file in listed:
            fate = Text(f"{mark} {SINGULAR.get(name, name)}", style=style)
            table.add_row(fate, shown(file.path), shown(file.reason, "dim"))
    return table


def _files(files: Sequence[FileChange]) -> Text:
    drawn = Text(", ").join(_file(file) for file in files[:MOST_FILES])
    if len(files) > MOST_FILES:
        drawn.append(f" and {len(files) - MOST_FILES} more")
    return drawn


def _file(file: FileChange | FileDiff) -> Text:
    letter = LETTERS.get(file.change, file.change)
    drawn = Text.assemble((f"{letter} ", f"bold {AUTHORS.get(file.author, 'blue')}"))
    if isinstance(file.renamed_from, str):
        drawn.append(f"{visible(file.renamed_from)} → ")
    drawn.append(visible(file.path))
    if file.additions:
        drawn.append(f" +{file.additions}", style="green")
    if file.deletions:
        drawn.append(f" -{file.deletions}", style="red")
    if file.restorable is False:
        drawn.append(" (not restorable)", style="yellow")
    return drawn


def _bytes(files: Sequence[FileChange]) -> str:
    now, before = sum(f.size for f in files), sum(f.size_before for f in files)
    if not files:
        return ""
    return filesize.decimal(now) if now or not before else f"-{filesize.decimal(before)}"


def _when(one: Checkpoint) -> datetime:
    return datetime.fromisoformat(one.at).astimezone()

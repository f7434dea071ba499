"""The demo's restore: after both edited, the agent's part is undone and redone."""

from pathlib import Path

from rich.text import Text
from sidecar_client import Client
from sidecar_client.messages import CheckpointRestoreResult, SessionPromptResult

from sidecar.commands.checkpoint_tables import fates, timeline
from sidecar.commands.demo.demo_screen import Screen
from sidecar.commands.terminal import shown

ASKED = "replace `world` with `everyone` in greeter.py then create bye.txt with `Goodbye!`"
COMMENT = "# Ask before you rename anything here.\n"
ADDED = "\nMine: the user wrote this line.\n"
CODE, NOTES = "greeter.py", "README.md"


async def go_back_and_forth(
    client: Client, screen: Screen, session: str, place: Path
) -> SessionPromptResult:
    await screen.chapter("The agent edits, and so do you, the same file too")
    result = await client.session.prompt(session, ASKED)
    screen.turn_ended(result)
    code, notes = place / CODE, place / NOTES
    code.write_text(COMMENT + code.read_text(encoding="utf-8"), encoding="utf-8")
    notes.write_text(notes.read_text(encoding="utf-8") + ADDED, encoding="utf-8")
    screen.line(Text.assemble(("     you ", "bold"), f"edit {NOTES}, and another line of {CODE}"))

    await screen.chapter("Where can we go back to? checkpoint/list")
    screen.console.print(timeline(await client.checkpoint.list(session)))

    await screen.chapter("What would that do? checkpoint/restore with dryRun, onConflict merge")
    before = _read(place)
    target = result.message_id
    plan = await client.checkpoint.restore(
        session, before_message_id=target, on_conflict="merge", dry_run=True
    )
    _show(screen, plan)

    await screen.chapter("Back: checkpoint/restore")
    done = await client.checkpoint.restore(session, before_message_id=target, on_conflict="merge")
    _show(screen, done)
    as_foreseen = "exactly" if _ended(done) == _ended(plan) else "not"
    screen.line(Text(f"  That is {as_foreseen} what the preview said. {CODE} is now:"))
    for line in code.read_text(encoding="utf-8").splitlines():
        screen.line(Text(f"    {line}", style="green" if f"{line}\n" == COMMENT else "dim"))

    await screen.chapter("And forth again: checkpoint/redo")
    _show(screen, await client.checkpoint.redo(session))
    same = "byte for byte as" if _read(place) == before else "not as"
    screen.line(Text(f"  Every file is {same} before it."))
    return result


def _ended(result: CheckpointRestoreResult) -> list[list[tuple[str, str]]]:
    files = result.files
    kinds = (files.restored, files.merged, files.skipped, files.conflicts)
    return [[(file.path, file.reason) for file in kind] for kind in kinds]


def _show(screen: Screen, result: CheckpointRestoreResult) -> None:
    screen.console.print(fates(result.files))
    if isinstance(result.restored_prompt, str):
        screen.line(shown(f"  to edit and send again: {result.restored_prompt}", "dim"))


def _read(place: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}

"""`sidecar checkpoints`, `diff` and `restore`.

No daemon runs while a question waits.
"""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

import msgspec
from rich.console import Console
from rich.text import Text
from sidecar_client.errors import SidecarError
from sidecar_client.messages import (
    Checkpoint,
    CheckpointListResult,
    CheckpointRestoreResult,
    RestoredFile,
    RestoredFiles,
)

from sidecar.commands import checkpoint_tables as draw
from sidecar.commands.session_names import named, whole_id
from sidecar.commands.terminal import refused, run_async, shown, terminal
from sidecar.config import load
from sidecar.core import errors
from sidecar.core.dataclass import dataclass
from sidecar.core.text.visible import visible_json
from sidecar.daemon.stores import open_store
from sidecar.session.history.checkpoint_list import stored_listing
from sidecar.wire.error_codes import CODES
from sidecar.wire.methods.listings import listing_json

if TYPE_CHECKING:
    from sidecar_client import Client

    from sidecar.core.files.reconcile import OnConflict
    from sidecar.session.interface import Scope

_UNASKED = "Nothing has been asked in this session yet."
SHORTEST = 6
"""Least characters of an id's end."""


@dataclass(frozen=True, slots=True)
class Target:
    """The state to restore; `redo` may come with a `checkpoint`."""

    checkpoint: str | None = None
    before: str | None = None
    last: bool = False
    redo: bool = False


@dataclass(frozen=True, slots=True)
class RestoreChoices:
    """How to restore; `paths`: relative to the session's folder."""

    scope: "Scope" = "both"
    on_conflict: "OnConflict" = "refuse"
    paths: tuple[str, ...] = ()
    markers: bool = False
    yes: bool = False
    dry_run: bool = False


class Unclear(Exception):
    """A name is ambiguous or unknown."""


def show(session: str | None, *, last: bool, as_json: bool) -> int:
    console = terminal()
    try:
        listed = run_async(_stored(session, last=last))
    except errors.SidecarError as error:
        return refused(console, error.message)
    if as_json:
        sys.stdout.write(visible_json(msgspec.to_builtins(listed)) + "\n")
    elif not listed.checkpoints:
        console.print(_UNASKED)
    else:
        console.print(draw.timeline(listed))
        for line in draw.below(listed):
            console.print(line)
    return 0


async def _stored(session: str | None, *, last: bool) -> CheckpointListResult:
    config, _ = load(workspace=None, environment=os.environ, options={})
    store = await asyncio.to_thread(open_store, config.data_dir)
    try:
        found_id = await named(store, session, last=last)
        try:
            found = await stored_listing(store, found_id)
        except errors.UnknownSession:
            # Knows much else, which a session that is there does not need.
            from sidecar.session.transfer.archive import require  # noqa: PLC0415 - see above

            await require(store, found_id)
            raise
    finally:
        await store.close()
    return msgspec.convert(listing_json(found), CheckpointListResult)


def diff(name: str, start: str | None, end: str | None, path: str | None) -> int:
    console = terminal()
    try:
        session = whole_id(name)
    except errors.SidecarError as error:
        return refused(console, error.message)

    async def work(client: "Client") -> int:
        listed = await client.checkpoint.list(session)
        if not listed.checkpoints:
            raise Unclear(_UNASKED)
        first = listed.checkpoints[0].checkpoint_id if start is None else _named(listed, start)
        last = None if end is None else _named(listed, end)
        found = await client.checkpoint.diff(session, first, last, path)
        for file in found.files:
            console.print(draw.heading(file), soft_wrap=True)
            if not console.is_terminal:
                console.file.write(file.diff)
            elif file.diff:
                for line in draw.diff_lines(file.diff):
                    console.print(line, soft_wrap=True)
        if not found.files:
            sys.stderr.write("No file changed.\n")
        return 0

    return _run(console, work)


def restore(name: str, target: Target, how: RestoreChoices) -> int:
    console = terminal()
    asks = not (how.yes or how.dry_run)
    if asks and not sys.stdin.isatty():
        console.print("There is nobody to ask here: add --yes to go ahead, or --dry-run to look.")
        return 2
    try:
        session = whole_id(name)
    except errors.SidecarError as error:
        return refused(console, error.message)
    previewed: list[CheckpointRestoreResult] = []

    async def preview(client: "Client") -> int:
        plan = await _asked(client, session, target, how, dry_run=True)
        previewed.append(plan)
        return _foreseen(console, plan, refuses=how.on_conflict == "refuse")

    async def go(client: "Client") -> int:
        known = previewed[0].revision if previewed else None
        with console.status("going back"):
            result = await _asked(client, session, target, how, revision=known)
        _fared(console, result)
        _afterwards(console, session, result)
        return 0

    if not how.yes:
        code = _run(console, preview)
        if code or how.dry_run:
            return code
        if not _agreed(console):
            return 1
    return _run(console, go)


async def _asked(
    client: "Client",
    session: str,
    target: Target,
    how: RestoreChoices,
    *,
    dry_run: bool = False,
    revision: int | None = None,
) -> CheckpointRestoreResult:
    listed = await client.checkpoint.list(session)
    checkpoint = None if target.checkpoint is None else _named(listed, target.checkpoint)
    if target.redo:
        return await client.checkpoint.redo(
            session,
            checkpoint,
            on_conflict=how.on_conflict,
            markers=how.markers,
            dry_run=dry_run,
            expected_revision=revision,
        )
    return await client.checkpoint.restore(
        session,
        checkpoint_id=checkpoint,
        before_message_id=None if checkpoint else _message(listed, target),
        scope=how.scope,
        on_conflict=how.on_conflict,
        markers=how.markers,
        paths=how.paths,
        dry_run=dry_run,
        expected_revision=revision,
    )


def _named(listed: CheckpointListResult, name: str) -> str:
    checkpoints = listed.checkpoints
    if name.isdecimal() and 0 < int(name) <= len(checkpoints):
        return checkpoints[int(name) - 1].checkpoint_id
    names = [one.checkpoint_id for one in checkpoints]
    ending = [one for one in names if one.endswith(name) and len(name) >= SHORTEST]
    found = [one for one in names if one == name] or ending
    if len(found) != 1:
        many = "More than one checkpoint is" if found else "No checkpoint is"
        raise Unclear(f"{many} called “{name}”: `sidecar checkpoints` numbers them.")
    return found[0]


def _message(listed: CheckpointListResult, target: Target) -> str:
    numbers = draw.turns_of(listed.checkpoints)
    first: dict[str, Checkpoint] = {}
    for one in listed.checkpoints:
        first.setdefault(one.turn_id, one)
    if target.last:
        stands = [first[name].message_id for name in numbers if first[name].left is not True]
        if not stands:
            raise Unclear("No turn is left to go back before.")
        return stands[-1]
    before = target.before or ""
    turns = {str(number): first[name].message_id for name, number in numbers.items()}
    if before.isdecimal() and before not in turns:
        raise Unclear(f"There is no turn {before}: `sidecar checkpoints` numbers them.")
    return turns.get(before, before)


def _foreseen(console: Console, plan: CheckpointRestoreResult, *, refuses: bool) -> int:
    if isinstance(plan.reason, str):
        return _nothing(console, plan.reason, plan.files)
    console.print(Text("What would be done:", style="bold"))
    if isinstance(plan.restored_prompt, str):
        first = plan.restored_prompt.partition("\n")[0]
        console.print(shown(f"The conversation goes back to before “{first}”."), soft_wrap=True)
    _fared(console, plan)
    _clashes(console, plan.files.conflicts)
    refused = refuses and bool(plan.files.conflicts)
    return _refused(console, len(plan.files.conflicts)) if refused else 0


def _fared(console: Console, result: CheckpointRestoreResult) -> None:
    table = draw.fates(result.files)
    if table.row_count:
        console.print(table)
    else:
        console.print("No file is touched.")
    for note in result.notes if isinstance(result.notes, list) else ():
        console.print(shown(note, "dim"), soft_wrap=True)


def _nothing(console: Console, why: str, files: RestoredFiles) -> int:
    refused(console, why)
    table = draw.fates(files)
    if table.row_count:
        console.print(table)
    return 1


def _clashes(console: Console, conflicts: Sequence[RestoredFile]) -> None:
    for file in conflicts:
        parts = (
            ("by the agent", file.agent_diff),
            ("by others since", file.user_diff),
            ("while a command ran, by that or by you", file.unknown_diff),
        )
        for who, found in parts:
            if isinstance(found, str) and found:
                about = shown(f"{file.path}, changed {who}:", "bold")
                console.print(about, soft_wrap=True)
                for line in draw.diff_lines(found):
                    console.print(line, soft_wrap=True)


def _afterwards(console: Console, session: str, result: CheckpointRestoreResult) -> None:
    if isinstance(result.restored_prompt, str) and result.restored_prompt:
        console.print(Text("The prompt that left the conversation:", style="bold"))
        console.print(result.restored_prompt, soft_wrap=True)
    command = f"sidecar restore {session} --redo --checkpoint {result.undo_checkpoint_id}"
    console.print(Text.assemble("To take this back: ", shown(command, "cyan")), soft_wrap=True)


def _refused(console: Console, conflicts: int) -> int:
    files = "One path is" if conflicts == 1 else f"{conflicts} paths are"
    console.print(
        Text.assemble(
            (f"{files} in conflict, so nothing is touched.", "red"),
            " Choose what becomes of such paths: --on-conflict keep, overwrite or merge.",
        ),
        soft_wrap=True,
    )
    return 1


def _agreed(console: Console) -> bool:
    try:
        answer = console.input(Text("Do it? [y/N] ", style="bold"))
    except (EOFError, KeyboardInterrupt):
        console.print()
        answer = ""
    if answer.strip().lower() in ("y", "yes"):
        return True
    console.print("Nothing was touched.")
    return False


def _run(console: Console, work: Callable[["Client"], Awaitable[int]]) -> int:
    from sidecar.commands.own_daemon import own_daemon  # noqa: PLC0415 - who only looks needs none

    async def run() -> int:
        async with own_daemon() as client:
            return await work(client)

    try:
        return asyncio.run(run())
    except Unclear as unclear:
        refused(console, str(unclear))
    except SidecarError as error:
        if error.code == CODES[errors.NothingToDo] and "files" in error.data:
            files = msgspec.convert(error.data["files"], RestoredFiles)
            return _nothing(console, error.message, files)
        refused(console, error.message)
        if error.code == CODES[errors.RestoreConflict]:
            conflicts = msgspec.convert(error.data.get("conflicts", []), list[RestoredFile])
            files = RestoredFiles(restored=[], merged=[], skipped=[], conflicts=conflicts)
            console.print(draw.fates(files))
            _clashes(console, conflicts)
            return _refused(console, len(conflicts))
    return 1

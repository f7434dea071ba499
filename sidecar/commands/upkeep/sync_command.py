"""`sidecar sync`."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import TypeVar

import msgspec
from rich import filesize
from rich.console import Console
from rich.prompt import Confirm
from rich.table import Table
from sidecar_client import Client, SidecarError
from sidecar_client.messages import RemoteSession, SessionSyncResult, SyncedSession

from sidecar.commands.own_daemon import own_daemon
from sidecar.commands.session_names import whole_ids
from sidecar.commands.terminal import refused, say_each, shown, terminal
from sidecar.core.dataclass import dataclass
from sidecar.core.errors import SidecarError as SidecarFailed
from sidecar.core.parts import Json
from sidecar.core.text.visible import many, visible_json

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SyncChoices:
    """`sessions` are ids here or beginnings of them, `names` of sessions there to open here."""

    sessions: tuple[str, ...]
    names: tuple[str, ...]
    dry_run: bool
    yes: bool
    as_json: bool
    snapshots: bool | None = None


def sync(remote: str | None, folder: Path, chosen: SyncChoices) -> int:
    console, cwd = terminal(), folder.absolute()
    try:
        ids = whole_ids(chosen.sessions) if chosen.sessions else []
    except SidecarFailed as error:
        return refused(console, error.message)

    async def work(client: Client) -> SessionSyncResult | None:
        async def call(agree: str | None, *, dry_run: bool) -> SessionSyncResult:
            with console.status("syncing"):
                return await client.session.sync(
                    remote,
                    cwd=cwd,
                    agree=agree,
                    dry_run=dry_run,
                    session_ids=ids,
                    names=chosen.names,
                    snapshots=chosen.snapshots,
                )

        done = await call(None, dry_run=chosen.dry_run)
        if done.agreed or chosen.dry_run:
            return done
        if not chosen.yes:
            _show_plan(console, done)
            if not _agreed(console, done, files=chosen.snapshots is True):
                return None
        return await call(done.remote, dry_run=False)

    code, done = _run(console, work)
    if done is None:
        if not code:
            console.print("Nothing was sent.")
        return code or 1
    if chosen.as_json:
        print(visible_json(_json(done), indent=2))
    elif chosen.dry_run:
        _show_plan(console, done)
    else:
        _show(console, done)
    return int(any(" refused it: " in note for note in done.notes))


def list_there(remote: str | None, folder: Path, *, as_json: bool) -> int:
    console, cwd = terminal(), folder.absolute()

    async def work(client: Client) -> tuple[str, list[RemoteSession]]:
        with console.status("asking"):
            found = await client.session.list_remote(remote, cwd=cwd)
        return found.remote, found.sessions

    code, found = _run(console, work)
    if found is None:
        return code
    shown_as, sessions = found
    if as_json:
        print(visible_json(_json({"remote": shown_as, "sessions": sessions}), indent=2))
        return 0
    if not sessions:
        console.print(shown(f"No session lies on {shown_as}."))
        return 0
    table = Table(box=None, pad_edge=False)
    for heading in ("name", "last used", "turns", "here", "project", "title"):
        table.add_column(heading, justify="right" if heading == "turns" else "left")
    for one in sessions:
        here = one.session_id if isinstance(one.session_id, str) else ""
        day = one.updated_at[:16].replace("T", " ")
        place = "this one" if one.same_project else one.project or one.folder
        about = (one.name, day, str(one.turns), here, place, one.title or "(untitled)")
        table.add_row(*map(shown, about))
    console.print(table)
    console.print("`sidecar sync --open NAME` opens one here.")
    return 0


def _show_plan(console: Console, done: SessionSyncResult) -> None:
    if done.sent:
        console.print(shown(f"To {done.remote} would go:"), soft_wrap=True)
        _lines(console, done.sent)
        total = filesize.decimal(sum(one.size for one in done.sent))
        redacted = sum(one.redacted for one in done.sent)
        taken = f", {many(redacted, 'likely key')} taken out" if redacted else ""
        files = sum(one.files for one in done.sent)
        held = f"and what {many(files, 'state')} of files held" if files else "not your files"
        console.print(shown(f"{total} in all{taken}: every text and output, {held}."))
        if done.recipients:
            keys = many(done.recipients, "key")
            told = f"Encrypted for {keys}; names of refs, sizes and times can be seen there."
            console.print(shown(told), soft_wrap=True)
    if done.received:
        console.print(shown(f"From {done.remote} would come:"), soft_wrap=True)
        _lines(console, done.received)
    if not done.sent and not done.received:
        console.print(shown(f"Nothing would go to {done.remote}, or come from there, now."))
    say_each(console, done.notes)


def _show(console: Console, done: SessionSyncResult) -> None:
    for what, some in (
        ("sent", done.sent),
        ("received", done.received),
        ("forked, as another machine went on first", done.forked),
    ):
        if some:
            console.print(shown(f"{what}:"))
            _lines(console, some)
    if done.removed:
        console.print(shown(f"removed there: {', '.join(done.removed)}"), soft_wrap=True)
    if not (done.sent or done.received or done.forked or done.removed):
        console.print(shown(f"Nothing to do: all is as on {done.remote}."), soft_wrap=True)
    if done.elsewhere:
        told = f"{many(done.elsewhere, 'session')} more there: `sidecar sync --list` has them."
        console.print(shown(told))
    say_each(console, done.notes)


def _lines(console: Console, sessions: Iterable[SyncedSession]) -> None:
    for one in sessions:
        size = f", {filesize.decimal(one.size)}" if one.size else ""
        name = one.session_id or one.name
        about = f"  {name}  {one.title or '(untitled)'}  ({many(one.messages, 'message')}{size})"
        console.print(shown(about), soft_wrap=True)


def _agreed(console: Console, done: SessionSyncResult, *, files: bool) -> bool:
    reader = "Who has one of the keys" if done.recipients else "Who can read there"
    held = ", and what their files held," if files else ""
    question = (
        f"Send sessions of this folder{held} to {done.remote}, from now on without asking? "
        f"{reader} can read them."
    )
    return Confirm.ask(shown(question), console=console, default=False)


def _json(value: object) -> Json:
    found: Json = msgspec.to_builtins(value)
    return found


def _run(console: Console, work: Callable[[Client], Awaitable[T]]) -> tuple[int, T | None]:
    async def run() -> T:
        async with own_daemon() as client:
            return await work(client)

    try:
        return 0, asyncio.run(run())
    except SidecarError as error:
        return refused(console, error.message), None

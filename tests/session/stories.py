"""A session in which a lot has happened, as a bundle that can be changed, and its uses."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from sidecar.core.errors import SidecarError
from sidecar.core.parts import ToolPart
from sidecar.core.text.digest import digest
from sidecar.session.interface import Wish
from sidecar.session.lifecycle.session import Session
from sidecar.session.transfer.bundle_export import export_session
from sidecar.session.transfer.bundle_import import Imported, ImportSource, import_session
from sidecar.store.connection import bundle_file
from tests.fakes.scripted_model import calls, says
from tests.session import inside
from tests.session.conftest import Desk, World


async def story(desk: Desk, path: Path) -> list[Any]:
    """The things of a bundle of a session in which a lot has happened."""
    worker = await desk.worker(policy="manual")
    session = worker.session
    await worker.turns(3, 3)
    part = inside.parts(session, ToolPart)[0]
    await session.rewriting.pin(part.id, pinned=True)
    await session.rewriting.compact("economic", None, dry_run=False)
    await worker.turns(1, 2)
    await session.rewriting.undo(None)
    listed = await session.checkpoints.listed()
    await session.rollback.restore(Wish("conversation", listed.checkpoints[-1].checkpoint.id))
    await session.rollback.redo(Wish("both"))
    desk.script(calls(("z", "shell", {"command": "true"})), says("Done."))
    await desk.ask(session, "Run it.")
    done = await export_session(
        await desk.sessions.shared.ready(), session.id, str(path), overwrite=True
    )
    return things_of(done.path)


def things_of(path: Path) -> list[Any]:
    """The things of a bundle, but for its end."""
    return [json.loads(line) for line in bundle_file.read(path)][:-1]


def sealed(things: list[Any]) -> str:
    """The content of a bundle with these things, and a hash that fits."""
    lines = [json.dumps(thing, separators=(",", ":")) + "\n" for thing in things]
    hashed = ""
    for line in lines:
        hashed = digest(line.encode(), hashed)
    return "".join([*lines, json.dumps({"end": {"lines": len(lines), "hash": hashed}}) + "\n"])


async def taken(desk: Desk, things: list[Any]) -> Imported:
    environment = await desk.sessions.shared.ready()
    source = ImportSource(content=sealed(things))
    return await import_session(environment, source, str(desk.workspace), None)


async def take(desk: Desk, things: list[Any]) -> Session:
    made = await taken(desk, things)
    session = await desk.sessions.get(made.session_id)
    session.audience.attach(desk.watch, desk.editor)
    return session


async def look_at(desk: Desk, session: Session) -> None:
    """Do what clients do with a session; nothing but errors that say what to do may come."""
    await session.rewriting.preview(({"type": "text", "text": "And now?"},))
    await session.rewriting.breakdown()
    await desk.sessions.list(None, None, 9)
    listed = await session.checkpoints.listed()
    for act in (
        lambda: session.rewriting.undo(None),
        lambda: session.rewriting.compact("economic", None, dry_run=True),
        lambda: session.rollback.restore(Wish("conversation", listed.checkpoints[0].checkpoint.id)),
        lambda: session.rollback.redo(Wish("conversation")),
    ):
        with suppress(SidecarError):
            await act()
    desk.model.responses.clear()
    desk.script(says("Yes."))
    await desk.ask(session, "Is all well?")


def away(world: World) -> World:
    folder = world.folder.with_name("other")
    return World(folder, world.workspace, world.time + 1, world.minted, config=world.config)

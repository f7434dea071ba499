"""Sessions that move with what files held: gone back to there, where files are as they were."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sidecar.core.errors import BadRequest, RestoreConflict
from sidecar.core.parts import PatchPart
from sidecar.session.interface import Wish
from sidecar.session.lifecycle.session import Session
from sidecar.session.transfer.bundle_export import Exported, export_session
from sidecar.session.transfer.bundle_import import Imported, ImportSource, import_session
from tests.fakes.scripted_model import calls, says, shell
from tests.session import inside
from tests.session.conftest import Desk, World
from tests.session.stories import sealed, things_of

KEY = "sk-ant-api03-" + "aB3_" * 20


async def export(desk: Desk, session: Session, path: Path | None = None) -> Exported:
    environment = await desk.sessions.shared.ready()
    given = None if path is None else str(path)
    return await export_session(environment, session.id, given, overwrite=True, snapshots=True)


async def take(
    desk: Desk, path: Path | None = None, content: str | None = None, *, snapshots: bool = True
) -> tuple[Session, Imported]:
    environment = await desk.sessions.shared.ready()
    source = ImportSource(path=None if path is None else str(path), content=content)
    folder = str(desk.workspace)
    made = await import_session(environment, source, folder, None, snapshots=snapshots)
    session = await desk.sessions.get(made.session_id)
    session.audience.attach(desk.watch, desk.editor)
    return session, made


@pytest.fixture
def away(world: World, tmp_path: Path) -> World:
    """Another machine's store, with a folder of its own."""
    other = World(tmp_path / "other", tmp_path / "elsewhere", world.time + 1000)
    other.config, other.minted, other.follows = world.config, world.minted + 1000, True
    return other


def write(name: str, path: str, text: str) -> tuple[str, str, dict[str, Any]]:
    return (name, "write_file", {"path": path, "content": text})


async def worked(desk: Desk) -> Session:
    """A session of three turns that made, changed and made files."""
    session = await desk.open()
    desk.script(
        calls(write("a", "new.txt", "one\n"), write("b", "notes.txt", "mine\n")), says("Ok.")
    )
    await desk.ask(session, "Make it.")
    desk.script(calls(write("c", "new.txt", "two\n")), says("Ok."))
    await desk.ask(session, "Change it.")
    return session


async def turn(session: Session, title: str) -> str:
    listed = await session.checkpoints.listed()
    return next(
        one.checkpoint.id
        for one in listed.checkpoints
        if one.checkpoint.kind == "turn" and one.checkpoint.title == title
    )


async def test_files_go_back_in_another_folder(world: World, away: World, tmp_path: Path) -> None:
    world.follows = True
    async with world.daemon() as desk:
        before = (desk.workspace / "notes.txt").read_text()
        session = await worked(desk)
        written = await export(desk, session, tmp_path / "a.sidecar")
        assert "4 states of files" in written.notes[0]
        shutil.copytree(desk.workspace, away.workspace)
    async with away.daemon() as desk:
        made, about = await take(desk, written.path)
        assert "4 states of files held came along" in " ".join(about.notes)
        here = desk.workspace
        change = await turn(made, "Change it.")
        (told,) = await made.checkpoints.diff(change, None, None)
        assert "-one" in told["diff"]
        assert "+two" in told["diff"]
        await made.rollback.restore(Wish("files", change))
        assert (here / "new.txt").read_text() == "one\n"
        await made.rollback.redo(Wish("files"))
        assert (here / "new.txt").read_text() == "two\n"
        # It goes on here, and back over both machines' turns.
        desk.script(calls(write("d", "new.txt", "three\n")), says("Ok."))
        await desk.ask(made, "And on.")
        await made.rollback.restore(Wish("both", await turn(made, "Make it.")))
        assert not (here / "new.txt").exists()
        assert (here / "notes.txt").read_text() == before
        assert (await desk.store.verify()).problems == ()
        third, _ = await take(desk, (await export(desk, made, tmp_path / "b.sidecar")).path)
        assert await third.checkpoints.diff(change, None, None)
        await desk.sessions.delete(made.id)
        await desk.sessions.delete(third.id)
        assert (await desk.store.verify()).problems == ()


async def test_files_that_were_not_read_yet_are_as_they_are(
    world: World, away: World, tmp_path: Path
) -> None:
    world.follows = True
    async with world.daemon() as desk:
        written = await export(desk, await worked(desk), tmp_path / "a.sidecar")
        shutil.copytree(desk.workspace, away.workspace)
    for number in range(3_000):
        (away.workspace / f"before{number}.txt").write_text("x" * 2_000)
    async with away.daemon() as desk:
        made, _ = await take(desk, written.path)
        await made.rollback.restore(Wish("files", await turn(made, "Change it.")))
        assert (desk.workspace / "new.txt").read_text() == "one\n"


async def test_what_is_otherwise_there_is_left_alone(
    world: World, away: World, tmp_path: Path
) -> None:
    world.follows = True
    async with world.daemon() as desk:
        written = await export(desk, await worked(desk), tmp_path / "a.sidecar")
        shutil.copytree(desk.workspace, away.workspace)
    (away.workspace / "new.txt").write_text("somebody's own\n")
    async with away.daemon() as desk:
        made, _ = await take(desk, written.path)
        change = await turn(made, "Change it.")
        with pytest.raises(RestoreConflict):
            await made.rollback.restore(Wish("files", change))
        assert (desk.workspace / "new.txt").read_text() == "somebody's own\n"
        # Nor is anything believed that was not asked for.
        other, about = await take(desk, written.path, snapshots=False)
        assert "import it with snapshots" in about.notes[-1]
        with pytest.raises(BadRequest, match="this session was imported"):
            await other.checkpoints.diff(change, None, None)


@pytest.mark.parametrize("letters", ["utf-8", "utf-16"])
async def test_a_file_with_a_key_stays(
    world: World, away: World, tmp_path: Path, letters: str
) -> None:
    world.follows = True
    async with world.daemon() as desk:
        session = await desk.open()
        if letters == "utf-8":
            desk.script(calls(write("a", "new.txt", f"KEY={KEY}\n")), says("Ok."))
        else:
            told = f"printf 'KEY={KEY}\\n' | iconv -t {letters} > new.txt"
            desk.script(calls(shell(told)), says("Ok."))
        await desk.ask(session, "Make it.")
        desk.script(calls(shell("echo clean > new.txt")), says("Ok."))
        await desk.ask(session, "Change it.")
        written = await export(desk, session, tmp_path / "a.sidecar")
        assert "1 state left out" in " ".join(written.notes)
        assert KEY not in json.dumps(things_of(written.path))
        shutil.copytree(desk.workspace, away.workspace)
    async with away.daemon() as desk:
        made, _ = await take(desk, written.path)
        done = await made.rollback.restore(
            replace(Wish("files", await turn(made, "Change it.")), dry_run=True)
        )
        assert "did not come along from another machine" in done.reason
        await made.rollback.restore(Wish("files", await turn(made, "Make it.")))
        assert not (desk.workspace / "new.txt").exists()


@pytest.fixture
async def things(world: World, away: World, tmp_path: Path) -> list[Any]:
    world.follows = True
    async with world.daemon() as desk:
        written = await export(desk, await worked(desk), tmp_path / "a.sidecar")
        shutil.copytree(desk.workspace, away.workspace)
    return things_of(written.path)


def patches(things: list[Any]) -> Iterator[tuple[Any, Any]]:
    for thing in things:
        part = thing.get("part", {})
        if part.get("type") == "patch" and part.get("detail"):
            yield part, json.loads(part["detail"])


def altered(things: list[Any], **changes: Any) -> str:
    for part, detail in patches(things):
        for one in detail["sets"]:
            for change in one["changes"]:
                if change["path"] == "new.txt":
                    change.update(changes)
        part["detail"] = json.dumps(detail)
    return sealed(things)


@pytest.mark.parametrize(
    "wrong",
    [
        {"path": "../evil"},
        {"path": "/etc/passwd"},
        {"path": ".git/hooks/pre-commit"},
        {"path": "a/.GIT/config"},
        {"path": ".git\u200c/config"},
        {"path": "a\0b"},
        {"path": 3},
        {"source": "../evil"},
        {"change": "exploded"},
        {"author": "root"},
        {"old": [0o20600, "", 0, None, 0]},
        {"new": "x"},
    ],
)
async def test_what_no_sidecar_writes_of_files_is_refused(
    away: World, things: list[Any], wrong: dict[str, Any]
) -> None:
    async with away.daemon() as desk:
        with pytest.raises(BadRequest, match="not as Sidecar writes"):
            await take(desk, content=altered(things, **wrong))


@pytest.mark.parametrize(
    "change",
    [
        {"path": ".envrc"},
        {"path": ".vscode/tasks.json"},
        {"path": ".eslintrc.js"},
        {"path": "bin/rg"},
        {"old": [0o120777, "", 4, None, 0]},
        {"old": [0o100644, "b2:" + "0" * 64, 4, None, 0]},
    ],
)
async def test_what_runs_later_links_and_what_is_missing_is_not_brought_back(
    away: World, things: list[Any], change: dict[str, Any]
) -> None:
    async with away.daemon() as desk:
        made, _ = await take(desk, content=altered(things, **change))
        before = {path: path.read_bytes() for path in away.workspace.iterdir() if path.is_file()}
        done = await made.rollback.restore(
            Wish("files", await turn(made, "Change it."), on_conflict="overwrite", dry_run=True)
        )
        assert not done.foreseen
        assert {p: p.read_bytes() for p in away.workspace.iterdir() if p.is_file()} == before
        assert (await desk.store.verify()).problems == ()


def keep_history_apart(folder: Path) -> None:
    apart = ("git", "init", "--quiet", "--separate-git-dir", "store", ".")
    subprocess.run(apart, cwd=folder, check=True)


@pytest.mark.parametrize(
    "place", ["link", "git elsewhere", "hidden folder", "rejected", "not trusted"]
)
async def test_what_runs_later_here_alone_is_not_brought_back(
    world: World, away: World, tmp_path: Path, things: list[Any], place: str
) -> None:
    """No name tells it: where the folder lies, a link, a history of another name or a rule do."""
    path = "conf/tasks.json"
    if place == "rejected":
        rules = replace(away.config.permissions, reject=("edit_file:conf/*",))
        away.config, path = replace(away.config, permissions=rules), "conf/new.py"
    elif place == "not trusted":
        path, away.config = "new.py", replace(away.config, workspace_trusted=False)
    if place == "hidden folder":
        shutil.rmtree(away.workspace)
        away = World(tmp_path / "third", tmp_path / "home/.vscode", world.time + 1000)
        away.config, away.minted, away.follows = world.config, world.minted + 2000, True
        path = "tasks.json"
    away.workspace.mkdir(parents=True, exist_ok=True)
    if place == "link":
        (away.workspace / ".vscode").symlink_to("conf")
    elif place == "git elsewhere":
        keep_history_apart(away.workspace)
        path = "store/info/attributes"
    async with away.daemon() as desk:
        made, _ = await take(desk, content=altered(things, path=path))
        wish = Wish("files", await turn(made, "Change it."), on_conflict="overwrite")
        done = await made.rollback.restore(replace(wish, dry_run=True))
        (fate,) = [fate for fate in done.fates if fate.path == path.encode()]
        assert "came from elsewhere" in fate.reason
        assert (fate.fate, done.foreseen) == ("skipped", {})
        assert not (desk.workspace / path).exists()


async def test_where_a_part_of_it_is_not_known_nothing_is_gone_back_to(
    away: World, things: list[Any]
) -> None:
    part, _ = list(patches(things))[-1]
    part["detail"] = "{}"
    async with away.daemon() as desk:
        made, _ = await take(desk, content=sealed(things))
        with pytest.raises(BadRequest, match="this session was imported"):
            await made.rollback.restore(Wish("files", await turn(made, "Make it.")))


async def test_an_archived_one_keeps_what_it_kept(away: World, things: list[Any]) -> None:
    async with away.daemon() as desk:
        made, _ = await take(desk, content=sealed(things))
        change = await turn(made, "Change it.")
        kept = [
            part for m in inside.messages(made) for part in m.parts if isinstance(part, PatchPart)
        ]
        assert any(part.detail.get("kept") for part in kept)
        await desk.sessions.close(made.id)
        (archived,) = await desk.sessions.archive(made.id)
        environment = await desk.sessions.shared.ready()
        source = ImportSource(path=str(archived.path))
        back = await import_session(environment, source, str(desk.workspace), None)
        again = await desk.sessions.get(back.session_id)
        again.audience.attach(desk.watch, desk.editor)
        assert (await desk.store.verify()).problems == ()
        await again.rollback.restore(Wish("files", change))
        assert (desk.workspace / "new.txt").read_text() == "one\n"

"""Files that are worked on, in a session: as they stand in the workspace, stored with a rewrite."""

import asyncio
from typing import Any

from tests.fakes.scripted_model import Hold, calls, says, started, stop, text
from tests.session.conftest import LIMIT, Desk, World
from tests.session.work import Worker

NAME = "app.py"
BEFORE = [f"value_{number} = {number}" for number in range(1, 41)]


async def worked(desk: Desk) -> Worker:
    """A session that read and edited a file, and then did much else."""
    (desk.workspace / NAME).write_text("\n".join(BEFORE) + "\n")
    worker = await desk.worker(policy="manual")
    change = {"path": NAME, "oldText": "value_7 = 7\n", "newText": "value_7 = 70\nextra = 1\n"}
    desk.script(calls(("r", "read_file", {"path": NAME})), calls(("e", "edit_file", change)))
    desk.script(says("Done."))
    await desk.ask(worker.session, "Set value_7 to 70.")
    await worker.turns(4)
    return worker


async def compact(worker: Worker, *, dry_run: bool) -> Any:
    return await worker.session.rewriting.compact("economic", None, dry_run=dry_run)


def image(desk: Desk, told: dict[str, Any]) -> list[str]:
    """The lines of the image in a plan's text."""
    _, found, rest = str(told["summary"]).partition(f"\n{NAME}\n")
    return rest.split("\n\n")[0].split("\n") if found else []


async def test_a_rewrite_shows_a_changed_file_as_it_stands(desk: Desk) -> None:
    worker = await worked(desk)
    told = await compact(worker, dry_run=True)
    lines = image(desk, told)
    assert lines[:10] == ["[lines 1-41]", "```", *BEFORE[:6], "value_7 = 70", "extra = 1"]
    assert "value_7 = 7" not in lines
    [file] = told["files"]
    assert (file["path"], file["lines"]) == (NAME, "1-41")
    assert file["tokens"] > 100
    assert float(file["price"]) > 0
    done = await compact(worker, dry_run=False)
    assert image(desk, done) == lines


async def test_lines_that_nobody_has_shown_to_the_model_do_not_leave(desk: Desk) -> None:
    worker = await worked(desk)
    text = (desk.workspace / NAME).read_text()
    (desk.workspace / NAME).write_text(f"token = 'unseen'\n{text}")
    lines = image(desk, await compact(worker, dry_run=True))
    assert lines[:4] == ["[lines 2-42]", "⋯ line 1 left out", "```", BEFORE[0]]
    assert not any("unseen" in line for line in lines)


async def test_a_file_that_is_gone_or_is_no_text_any_more_has_no_image(desk: Desk) -> None:
    worker = await worked(desk)
    (desk.workspace / NAME).write_bytes(b"\0\1\2")
    assert "files" not in await compact(worker, dry_run=True)
    (desk.workspace / NAME).unlink()
    assert "files" not in await compact(worker, dry_run=True)


async def test_what_the_editor_holds_counts(desk: Desk) -> None:
    worker = await worked(desk)
    held = (desk.workspace / NAME).read_text().replace("extra = 1\n", "")
    real = (desk.workspace / NAME).resolve()
    desk.sessions.documents.open(str(real), held, 1)
    lines = image(desk, await compact(worker, dry_run=True))
    assert lines[:10] == ["[lines 1-40]", "```", *BEFORE[:6], "value_7 = 70", BEFORE[7]]


async def test_what_changes_while_a_compaction_waits_for_an_answer_counts(desk: Desk) -> None:
    worker = await worked(desk)
    hold = Hold()
    desk.script([started(), hold, *text("Fine."), stop()])
    async with asyncio.timeout(LIMIT), asyncio.TaskGroup() as group:
        asking = group.create_task(desk.ask(worker.session, "How is it?"))
        await hold.reached.wait()
        compacting = group.create_task(compact(worker, dry_run=False))
        await asyncio.sleep(0.2)
        file = desk.workspace / NAME
        file.write_text("first = 0\n" + file.read_text().replace("value_9 = 9\n", ""))
        hold.released.set()
        await asking
    lines = image(desk, await compacting)
    assert lines[:4] == ["[lines 2-41]", "⋯ line 1 left out", "```", BEFORE[0]]
    assert "value_9 = 9" not in lines


async def test_it_is_sent_again_after_a_restart_whatever_the_file_says_then(world: World) -> None:
    async with world.daemon() as desk:
        worker = await worked(desk)
        await compact(worker, dry_run=False)
        before = (await worker.session.rewriting.preview(())).body["messages"]
        name = worker.session.id
    async with world.daemon() as desk:
        (desk.workspace / NAME).write_text("other = 1\n")
        again = await desk.sessions.get(name)
        assert (await again.rewriting.preview(())).body["messages"] == before

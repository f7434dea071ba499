"""Settings that change while sessions are open: permissions at once, steps with the next turn."""

from dataclasses import replace

from sidecar.config import Layer, PermissionSettings
from sidecar.config.layers import Resolved, resolve
from sidecar.config.reload import CurrentSettings
from sidecar.core.parts import ToolError, ToolPart
from sidecar.session.log.events import Notice
from tests.fakes.scripted_model import calls, says, shell, write
from tests.session import inside
from tests.session.conftest import Desk, World


async def test_rules_change_in_open_sessions_and_answers_stay(desk: Desk, world: World) -> None:
    """What a new rule forbids is refused unasked; what the user said `always` to still holds."""
    session = await desk.open()
    desk.editor.permission = "allow_always"
    desk.script(calls(write("a.txt", "x")), says("done"))
    await desk.ask(session)
    assert len(desk.editor.asked) == 1
    forbids = replace(world.config, permissions=PermissionSettings(reject=("shell",)))
    desk.reload(forbids)
    desk.script(calls(write("a.txt", "y"), shell("touch made")), says("done"))
    await desk.ask(session)
    assert len(desk.editor.asked) == 1
    assert not (desk.workspace / "made").exists()
    desk.reload(world.config)
    desk.script(calls(shell("touch made")), says("done"))
    await desk.ask(session)
    assert len(desk.editor.asked) == 2
    assert (desk.workspace / "made").exists()


async def test_what_a_rule_rejected_too_for_a_while_stays_rejected(
    desk: Desk, world: World
) -> None:
    """A file of the workspace may come and go with a checkout, the user's answer may not."""
    (desk.workspace / "src").mkdir()
    session = await desk.open()
    rules = PermissionSettings(("write_file:src/*",))
    desk.reload(replace(world.config, permissions=rules))
    desk.editor.permission = "reject_always"
    desk.script(calls(write("lib/a.py", "x")))
    await desk.ask(session)
    desk.reload(replace(world.config, permissions=replace(rules, reject=("write_file",))))
    desk.reload(replace(world.config, permissions=rules))
    desk.script(calls(write("src/one.py", "x")), says("done"))
    await desk.ask(session)
    assert len(desk.editor.asked) == 1
    assert not (desk.workspace / "src/one.py").exists()


async def test_a_path_is_rejected_by_a_link_that_leads_to_it(desk: Desk, world: World) -> None:
    """Links to the workspace, in it, before a `*`, and for a command's folder."""
    for folder in ("data/private", "keys"):
        (desk.workspace / folder).mkdir(parents=True)
        (desk.workspace / folder / "a.txt").write_text("x")
    (desk.workspace / "private").symlink_to("data/private")
    (world.folder / "projects").symlink_to(desk.workspace.parent)
    opened = world.folder / "projects" / desk.workspace.name
    session = await desk.open()
    for rule, call in (
        (f"read:{opened}/keys", ("read_file", {"path": "keys/a.txt"})),
        (f"read:{opened}/k*/a.txt", ("read_file", {"path": "keys/a.txt"})),
        ("read:../*/keys", ("read_file", {"path": "keys/a.txt"})),
        ("read:private", ("read_file", {"path": "data/private/a.txt"})),
        ("read:private/*.txt", ("read_file", {"path": "data/private/a.txt"})),
        ("shell@private:touch made", ("shell", {"command": "touch made", "cwd": "data/private"})),
    ):
        desk.reload(replace(world.config, permissions=PermissionSettings(("*",), (rule,))))
        desk.script(calls((rule, *call)), says("done"))
        await desk.ask(session)
        (*_, tool) = [p for m in desk.messages(session) for p in m.parts if isinstance(p, ToolPart)]
        assert isinstance(tool.state, ToolError), rule
        assert "A rule of the user rejects this call." in tool.state.message


async def test_every_open_session_is_told_and_the_next_turn_obeys(desk: Desk, world: World) -> None:
    session = await desk.open()
    other = await desk.open()
    desk.reload(replace(world.config, max_steps=1))
    told = {notice.session_id: notice for notice in desk.of(Notice)}
    assert set(told) == {session.id, other.id}
    assert "From the next turn: max_steps = 1." in told[session.id].text
    assert told[session.id].level == "info"
    desk.script(calls(("c", "read_file", {"path": "notes.txt"})), says("never said"))
    assert (await desk.ask(session)).stop_reason == "max_turn_requests"


async def test_what_another_environment_read_again_is_its_own(desk: Desk, world: World) -> None:
    """An ACP window's first requests may have one without the folder's rules."""
    session = await desk.open()
    before, other = inside.state(session).config, CurrentSettings(world.config)
    desk.sessions.reload(other, Resolved(replace(world.config, max_steps=1), {}, ()))
    assert other.config.max_steps == 1
    assert inside.state(session).config == before


async def test_a_bad_file_changes_nothing_and_new_sessions_hear_of_it(desk: Desk) -> None:
    await desk.open()
    desk.take(resolve([Layer("config.toml", {"max_steps": 0, "keep_alive": True})]))
    notice = desk.of(Notice)[-1]
    assert notice.level == "warning"
    assert "stay as they were. config.toml: max_steps: must be from 1" in notice.text
    later = await desk.open()
    assert not inside.state(later).config.keep_alive
    assert inside.state(later).config.max_steps == 200
    assert desk.of(Notice)[-1].session_id == later.id
    assert "config.toml: max_steps: must be" in desk.of(Notice)[-1].text

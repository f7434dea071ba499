"""Windows and answers that cannot go together are refused with the numbers and what to do."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace

import pytest

from sidecar.core.errors import BadRequest, Cancelled
from sidecar.core.parts import Json
from sidecar.model.catalogue import lookup
from sidecar.session.epochs.lessons import find
from sidecar.session.epochs.session_params import amiss
from sidecar.session.interface import NewSession
from sidecar.session.log.events import Event, Notice, OptionsChanged
from tests.fakes.scripted_model import says
from tests.session import inside
from tests.session.conftest import Desk, World

SONNET, OFFLINE = lookup("claude-sonnet-4-5"), lookup("offline")


@pytest.mark.parametrize(
    ("window", "most", "name", "words"),
    [
        (0, None, "window", "window must be a positive number of tokens"),
        (None, -1, "maxTokens", "maxTokens must be a positive number of tokens"),
        (9_000, 9_000, "maxTokens", "maxTokens (9000) must be smaller than the window (9000)"),
        (None, 200_000, "maxTokens", "must be smaller than the window (200000)"),
        (32_000, None, "window", "32000 tokens, which is what an answer may take unless maxTokens"),
        (4_000, 100, "window", "at least 4000 tokens are kept for the answer"),
    ],
)
def test_numbers_that_cannot_go_together(
    window: int | None, most: int | None, name: str, words: str
) -> None:
    settings: Mapping[str, Json] = {"window": window, "maxTokens": most}
    found = amiss(settings, SONNET)
    assert found is not None
    assert found[0] == name
    assert words in found[1]


@pytest.mark.parametrize(
    ("window", "most"),
    [(None, None), (32_001, None), (4_001, 100), (9_000, 8_999), (2_000_000, None), (None, 64_000)],
)
def test_numbers_that_can_be_are_taken(window: int | None, most: int | None) -> None:
    assert amiss({"window": window, "maxTokens": most}, SONNET) is None


def test_a_model_s_own_limits_count() -> None:
    assert amiss({"window": 9_000, "maxTokens": None}, OFFLINE) is None
    assert amiss({"window": 8_192, "maxTokens": None}, OFFLINE) is not None


async def test_a_model_whose_window_is_too_small_is_not_changed_to(desk: Desk) -> None:
    session = await desk.open(max_tokens=100_000)
    with pytest.raises(BadRequest, match="must be smaller than the window") as refused:
        await session.set_option("model", "gpt-4")
    assert refused.value.data["path"] == "params.value"
    assert inside.settings(session).model_id == "scripted"


async def test_what_leaves_no_room_for_a_message_is_told_with_its_numbers(desk: Desk) -> None:
    session = await desk.open(window=12_000, max_tokens=6_000, system="Work with care. " * 2_000)
    with pytest.raises(BadRequest) as refused:
        await desk.ask(session, "Hello.")
    told = str(refused.value)
    assert "window of 12000" in told
    assert "6000 are kept for the answer" in told
    assert f"{session.meter().used} are tools and system text" in told
    assert "smaller maxTokens" in told


@pytest.mark.parametrize("automatic", [True, False])
async def test_a_session_begins_as_the_settings_say(world: World, automatic: bool) -> None:
    """What its options do when they are changed is proved where they are used."""
    config = replace(world.config, policy="codex" if automatic else "manual")
    world.config = replace(config, auto_compact=automatic, auto_continue=automatic)
    async with world.daemon() as desk:
        session = await desk.open()
        assert inside.policy(session).name == config.policy
        assert inside.row(session).settings["autoCompact"] is automatic
        assert inside.row(session).settings["autoContinue"] is automatic


async def test_who_takes_a_session_over_replaces_its_policy_if_that_is_gone(world: World) -> None:
    async with world.daemon(name="second") as other:
        async with world.daemon(name="first") as desk:
            session = await desk.open()
            desk.script(says("Done."))
            await desk.ask(session)
            inside.configure(session, "policy", "opencode-noprune")
            await inside.commit(session)
            copy = await other.sessions.get(session.id)
            copy.audience.attach(other.watch, other.editor)  # type: ignore[arg-type]
        other.script(says("Mine now."))
        await other.ask(copy)
        assert inside.row(copy).settings["policy"] == world.config.policy
        (told,) = [e.text for e in other.of(Notice) if "no policy 'opencode-no" in e.text]
        assert told.endswith(f"goes on with {world.config.policy!r}.")


async def test_a_stored_session_whose_policy_is_gone_goes_on_with_that_of_new_ones(
    world: World,
) -> None:
    world.config = replace(world.config, policy="codex")
    async with world.daemon() as desk:
        session = await desk.open()
        desk.script(says("Done."))
        await desk.ask(session)
        inside.configure(session, "policy", "opencode-noprune")
        await inside.commit(session)
    for _ in "told", "told no second time":
        async with world.daemon() as desk:

            async def emit(event: Event, desk: Desk = desk) -> None:
                desk.watch(event)

            opened = await desk.sessions.load(
                session.id, desk.editor, desk.watch, replay=True, after=None, emit=emit
            )
            told = [event for event in desk.of(Notice) if "no policy 'opencode-no" in event.text]
            assert len(told) == 1
            (option,) = [one for one in opened.config_options if one["id"] == "policy"]
            assert option["currentValue"] == "codex"
            assert inside.policy(await desk.sessions.get(session.id)).name == "codex"
            desk.script(says("Fine."))
            await desk.ask(await desk.sessions.get(session.id), "go on")


def noticed(desk: Desk) -> list[str]:
    return [event.text for event in desk.of(Notice) if "at most" in event.text]


async def test_a_setting_that_is_more_than_the_model_takes_is_told(desk: Desk) -> None:
    session = await desk.open(window=400_000, max_tokens=100_000, model="claude-sonnet-4-5")
    await desk.until(lambda: len(noticed(desk)) == 2)
    assert noticed(desk) == [
        "window is set to 400000 tokens, and claude-sonnet-4-5 takes 200000 at most: "
        "200000 is what counts",
        "maxTokens is set to 100000 tokens, and claude-sonnet-4-5 takes 64000 at most: "
        "64000 is what counts",
    ]
    meter = session.meter()
    assert (meter.window, meter.reserved_output) == (200_000, 64_000)
    assert all(record.kind != "notice" or record.revision for record in inside.records(session))


async def test_a_model_that_takes_less_than_was_set_says_so_when_it_is_chosen(desk: Desk) -> None:
    session = await desk.open(window=400_000, model="claude-opus-4-8")
    assert not noticed(desk)
    await session.set_option("model", "claude-haiku-4-5")
    (told,) = noticed(desk)
    assert told.startswith("window is set to 400000 tokens, and claude-haiku-4-5 takes 200000")
    await session.set_option("model", "somebody-s-own")
    assert "somebody-s-own (as far as is known) takes 200000 at most" in noticed(desk)[-1]


@pytest.mark.parametrize(
    "cwd", ["\0", "/\0", "/" + "x" * 300, "/" + "x/" * 3_000, "\ud800", "x", ""]
)
async def test_what_can_be_no_folder_is_refused_in_words(desk: Desk, cwd: str) -> None:
    with pytest.raises(BadRequest, match="absolute path") as error:
        await desk.sessions.new(NewSession(cwd=cwd), desk.editor, desk.watch)
    assert len(error.value.message) < 300
    for ask in (
        lambda: desk.sessions.list(cwd, None, 9),
        lambda: find(desk.store.facts, None, cwd, None, None),
    ):
        where = "params.cwd"
        try:
            assert not any(await ask())
        except BadRequest as refused:
            where = str(refused.data["path"])
        assert where == "params.cwd"


async def test_what_is_asked_for_while_the_daemon_stops_is_cancelled(world: World) -> None:
    async with world.daemon() as desk:
        await desk.open()
        await desk.sessions.open.shutdown()
        with pytest.raises(Cancelled, match="stopping"):
            await desk.sessions.shared.ready()
        await desk.sessions.shared.warm_up()


async def test_an_answer_has_what_was_set_meanwhile(desk: Desk) -> None:
    session = await desk.open()
    first = asyncio.create_task(session.set_option("policy", "manual"))
    await desk.until(lambda: desk.of(OptionsChanged) != [])
    await session.set_option("model", "other")
    now = {str(option["id"]): option["currentValue"] for option in await first}
    assert (now["policy"], now["model"]) == ("manual", "other")

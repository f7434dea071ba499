"""What is stored with an answer, beside what was said."""

from dataclasses import replace

from sidecar.core.conversation.stream import ResponseStarted
from tests.fakes.scripted_model import says
from tests.session import inside
from tests.session.conftest import Desk


async def test_each_answer_is_stored_with_the_library_that_read_it(desk: Desk) -> None:
    session = await desk.open()
    first, *rest = says("done")
    assert isinstance(first, ResponseStarted)
    desk.script([replace(first, sdk="anthropic 2.11.0"), *rest], says("done"))
    await desk.ask(session)
    await desk.ask(session)
    stored = inside.records(session, "step")
    assert [record.body.get("sdk") for record in stored] == ["anthropic 2.11.0", None]

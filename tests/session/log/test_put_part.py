"""A call that goes on changes one part of an answer, however many calls the answer has."""

from dataclasses import replace

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Message, MessageId, PartId, TextPart, TurnId
from tests.session import inside
from tests.session.conftest import Desk


@dataclass(frozen=True, slots=True)
class Unlooked(TextPart):
    """A part that nobody may compare."""

    def __eq__(self, other: object) -> bool:
        raise AssertionError(self.id)

    __hash__ = TextPart.__hash__


async def test_the_other_parts_are_not_looked_at(desk: Desk) -> None:
    log = inside.log(await desk.open())
    mine = TextPart(PartId("mine"), "before", "model")
    parts = (Unlooked(PartId("a"), "a", "model"), mine, Unlooked(PartId("b"), "b", "model"))
    name = MessageId("answer")
    log.writer.put(Message(name, TurnId("turn"), "assistant", parts, 1))
    log.writer.put_part(name, replace(mine, text="after"))
    log.writer.put_part(name, TextPart(PartId("new"), "new", "model"))
    log.writer.put_part(name, TextPart(PartId("new"), "newer", "model"))
    found = log.by_id[name].parts
    assert [(part.id, part.text) for part in found if isinstance(part, TextPart)] == [
        ("a", "a"),
        ("mine", "after"),
        ("b", "b"),
        ("new", "newer"),
    ]

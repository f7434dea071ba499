"""A body's pieces are written once, for as long as each next body has them."""

import json

import pytest

from sidecar.core.parts import JsonObject
from sidecar.model.bodies.piece_writer import PieceWriter
from tests.core.prompts import Rendered, user


def test_what_the_next_body_repeats_is_not_made_again() -> None:
    writer, made = PieceWriter(), list[Rendered]()

    def make(piece: Rendered) -> list[JsonObject]:
        made.append(piece)
        return [{"n": len(made)}] * 2

    first, second = user("a"), user("b")
    bodies = [
        json.loads(writer.whole({"in": writer.array(pieces, make)}))["in"]
        for pieces in ([first], [first, second], [second], [first])
    ]
    one, two, three = ([{"n": n}] * 2 for n in (1, 2, 3))
    assert bodies == [one, one + two, two, three], "what one body lacks is forgotten"
    assert made == [first, second, first]
    assert writer.unwritten([first, second, user("c", "d")]) == 3


def test_what_stands_instead_of_a_piece_is_not_kept() -> None:
    writer, piece = PieceWriter(), user("a")
    written = [
        bytes(writer.array([piece], lambda _: [{"a": 1}], before=[{"b": 2}], instead=instead))
        for instead in (None, {id(piece): [{"c": 3}]}, {id(piece): []}, None)
    ]
    assert written == [b'[{"b":2},{"a":1}]', b'[{"b":2},{"c":3}]', b'[{"b":2}]', written[0]]


def test_a_number_that_json_lacks_is_refused() -> None:
    with pytest.raises(ValueError, match="JSON"):
        PieceWriter().array([user("a")], lambda _: [{"a": float("nan")}])

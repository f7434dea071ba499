"""A recording as requests: what each held, which names its answer used, what it weighs."""

from collections.abc import Iterable

from sidecar.core.parts import (
    FilePart,
    Json,
    Media,
    Message,
    MessageId,
    OpaquePart,
    Output,
    Part,
    PartId,
    ReasoningPart,
    StepFinishPart,
    TextPart,
    ToolCompleted,
    ToolPart,
    TurnId,
    Usage,
)
from sidecar.core.prompt.tokens import USUAL_FACTOR
from sidecar.replay.conversation import FAR, STATIC, STATIC_LEAST, Conversation, listen


def heard(*messages: Message | None) -> Conversation:
    return listen(messages, len, "name", "kind")


def typed(number: int, text: str) -> Message:
    part = TextPart(PartId(f"u{number}"), text, "typed")
    return Message(MessageId(f"u{number}"), TurnId(f"t{number}"), "user", (part,), number)


def answer(number: int, *parts: Part, usage: Usage | None = None, turn: int = 0) -> Message:
    finish = StepFinishPart(PartId(f"f{number}"), "", usage or Usage(), None, number * 10)
    made = (MessageId(f"a{number}"), TurnId(f"t{turn}"), "assistant")
    return Message(*made, (*parts, finish), number * 10 + 5, "complete", "m")  # type: ignore[arg-type]


def said(text: str, name: str = "p") -> TextPart:
    return TextPart(PartId(name), text, "model")


def called(given: Json, result: str, name: str = "c") -> ToolPart:
    return ToolPart(PartId(name), name, "bash", given, ToolCompleted(Output(result), 0, 1))


def quiet(numbers: Iterable[int]) -> list[Message]:
    return [answer(n, said("Well.", f"q{n}")) for n in numbers]


def test_a_request_holds_what_came_before_its_answer() -> None:
    talk = heard(
        typed(0, "look"),
        answer(1, said("I look", "p1"), called({"command": "ls"}, "one", "c1")),
        answer(2, said("done", "p2")),
        typed(1, "more"),
        answer(3, said("yes", "p3"), turn=1),
    )
    assert [unit.part_id for unit in talk.units] == ["u0", "p1", "c1", "p2", "u1", "p3"]
    assert [request.end for request in talk.requests] == [1, 3, 5]
    assert [request.at for request in talk.requests] == [10, 20, 30]
    assert [request.messages for request in talk.requests] == [1, 3, 5]
    assert [request.opens_turn for request in talk.requests] == [True, False, True]
    assert [unit.step for unit in talk.units] == [0, 0, 0, 1, 2, 2]
    assert [unit.turn for unit in talk.units] == [0, 0, 0, 0, 1, 1]


def test_a_name_is_far_from_15_requests_after_it_was_last_seen() -> None:
    for between, far in ((FAR - 2, ()), (FAR - 1, ("alpha_name",))):
        talk = heard(
            typed(0, "look"),
            answer(1, called({"command": "ls"}, "alpha_name", "c1")),
            *quiet(range(2, 2 + between)),
            answer(99, said("It is alpha_name.", "last")),
        )
        assert talk.requests[-1].used == ("alpha_name",)
        assert talk.requests[-1].far == far


def test_only_what_the_answer_wrote_is_used_not_what_its_tools_gave() -> None:
    talk = heard(
        typed(0, "beta_name gamma_name delta_name"),
        *quiet(range(1, 1 + FAR)),
        answer(50, said("beta_name and new_name", "p"), called("gamma_name", "delta_name")),
    )
    assert talk.requests[-1].far == ("beta_name", "gamma_name")


def test_a_name_that_a_tool_gave_again_is_not_far() -> None:
    talk = heard(
        typed(0, "beta_name"),
        *quiet(range(1, FAR)),
        answer(50, called("x", "beta_name", "c1")),
        answer(51, said("beta_name", "p")),
    )
    assert (talk.requests[-1].used, talk.requests[-1].far) == (("beta_name",), ())


def test_discarded_messages_are_not_heard() -> None:
    gone = answer(1, said("no"))
    gone = Message(gone.id, gone.turn_id, "assistant", gone.parts, 0, "discarded", "m")
    assert heard(typed(0, "a"), gone).requests == ()


def test_without_usage_tokens_are_a_quarter_more_than_the_estimate() -> None:
    talk = heard(typed(0, "x" * 96), answer(1, said("y" * 196)))
    # A text block is framed by four tokens.
    assert (talk.tokens, talk.factor, talk.static) == ((125, 250), USUAL_FACTOR, STATIC)


def test_tokens_are_learned_from_what_the_prompts_grew_by() -> None:
    prompts = (5_000, 6_500, 8_000, 9_500, 11_000)
    usages = [Usage(input=prompt, output=1, requests=1) for prompt in prompts]
    answers = [answer(n, said("y" * 996, f"p{n}"), usage=use) for n, use in enumerate(usages)]
    talk = heard(typed(0, "x" * 996), *answers)
    assert talk.factor == 1.5
    assert set(talk.tokens) == {1_500}
    assert talk.static == 5_000 - 1_500


def test_what_was_compacted_away_teaches_nothing() -> None:
    prompts = (5_000, 6_000, 7_000, 8_000)
    answers = [
        answer(n, said("y" * 996, f"p{n}"), usage=Usage(input=p)) for n, p in enumerate(prompts)
    ]
    later = [
        answer(n + 9, said("y" * 996, f"q{n}"), usage=Usage(input=n * 9_000)) for n in range(1, 9)
    ]
    talk = heard(typed(0, "x"), *answers, None, *later)
    assert (talk.factor, talk.compacted) == (1.0, (4,))


def test_a_first_prompt_that_is_too_small_still_has_a_static_part() -> None:
    talk = heard(typed(0, "x" * 996), answer(1, said("y"), usage=Usage(input=10)))
    assert talk.static == STATIC_LEAST


def test_an_answer_is_billed_by_its_usage_unless_that_is_only_the_stream_s_start() -> None:
    for reported, billed in ((900, 900), (3, 200)):
        use = Usage(input=10, output=reported)
        assert heard(answer(1, said("y" * 200), usage=use)).requests[0].output == billed


def test_thinking_whose_text_is_hidden_is_weighed_by_its_length() -> None:
    hidden = ReasoningPart(PartId("r1"), "hm", {"opaqueChars": 400})
    shown = ReasoningPart(PartId("r2"), "x" * 300, {"opaqueChars": 400})
    talk = heard(answer(1, hidden, shown, said("y", "p")))
    assert talk.tokens[:2] == (125, 375)


def test_every_kind_of_part_has_its_weight() -> None:
    image = FilePart(PartId("f"), "image", media=Media("image/png", ""))
    opaque = OpaquePart(PartId("o"), {"type": "new", "data": "x" * 100})
    user = Message(MessageId("u"), TurnId("t0"), "user", (image,), 0)
    talk = heard(user, answer(1, opaque, said("", "e"), called({"a": 1}, "x" * 88)))
    assert [unit.kind for unit in talk.units] == ["typed", "opaque", "prose", "call"]
    assert talk.tokens[0] == 2_000
    assert talk.tokens[1] > 125
    assert talk.tokens[2] == 0  # Blank text is not sent.
    assert talk.tokens[3] - talk.calls[3] == 125

"""What is foreseen of the provider's cache across a restart, held against the simulator."""

from dataclasses import replace

from sidecar.core.parts import (
    Message,
    MessageId,
    Output,
    PartId,
    ToolCompleted,
    ToolPart,
    ToolRunning,
    TurnId,
    Usage,
)
from sidecar.core.prompt.breakpoints import place
from sidecar.core.prompt.cache_rules import MARKED
from sidecar.core.prompt.prompt import ModelRequest, Prompt
from sidecar.core.prompt.tokens import Calibration
from sidecar.model.messages.encode import encode
from sidecar.session.view.cache_state import CacheWatch
from sidecar.session.view.model_view import ModelView
from tests.core.notation import history
from tests.core.prompts import model, spoken, static, system, user
from tests.fakes.cache_simulator import CacheSimulator


def asked(words: list[str], before: int, anchor: int) -> ModelRequest:
    messages = tuple(model(text) if number % 2 else user(text) for number, text in enumerate(words))
    made = Prompt((), system("Be brief. " * 50), messages)
    marks = place(made, before, anchor=anchor, static_ttl="1h")
    return ModelRequest("m", replace(made, breakpoints=marks), 1)


def told(simulator: CacheSimulator, request: ModelRequest) -> Usage:
    usage = simulator.request(encode(request))
    made = usage["cache_creation"]
    return Usage(
        input=usage["input_tokens"],
        cache_read=usage["cache_read_input_tokens"],
        cache_write_5m=made["ephemeral_5m_input_tokens"],
        cache_write_1h=made["ephemeral_1h_input_tokens"],
    )


def test_what_was_marked_before_a_restart_is_read_after_it() -> None:
    simulator = CacheSimulator(lambda: 0.0, 1, lambda text: len(text) // 4)
    words = [f"{number} " + "word " * 100 for number in range(41)]
    first = asked(words[:9], 0, 5)
    told(simulator, first)
    last = asked(words, 9, 5)
    usage = told(simulator, last)
    watch = CacheWatch(lambda text: len(text) // 4)
    watch.resume(last, 0, MARKED, usage)
    rewritten = asked([*words[:5], "what came after was left out", "yes", "on"], 0, 5)
    foreseen, _ = watch.sent(rewritten, 1_000, MARKED, 1.0, reported := told(simulator, rewritten))
    assert reported.cache_read > 500
    assert abs(foreseen.read - reported.cache_read) <= 5


def test_what_a_request_foreseen_before_has_told_is_not_counted_again() -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return len(text) // 4

    watch, head = CacheWatch(count), system("Be brief.")
    talk = user("one"), model("two"), user("three")
    for told in (1, 3, 3, 2):
        watch.foresee(ModelRequest("m", Prompt((), head, talk[:told]), 1), 0, MARKED, 1.0)
    assert counted == ["Be brief.", "one", "two", "three"]


def test_what_the_view_has_counted_is_not_counted_again() -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return len(text) // 4

    view, watch = ModelView(static(), count, 1.2, 0), CacheWatch(count)
    talk = history("U41 A83")
    for told in (1, 2):
        view.size(talk[:told])
        watch.foresee(ModelRequest("m", view.prompt(talk[:told]), 1), 0, MARKED, 1.0)
    assert [len(text) for text in counted if set(text) == {"x"}] == [41, 83]


def test_of_an_answers_calls_only_those_that_went_on_are_counted_again() -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return len(text) // 4

    asked = [
        ToolPart(PartId(f"p{n}"), f"c{n}", "read_file", {"path": f"f{n}"}, ToolRunning(1))
        for n in range(3)
    ]
    begun = Message(MessageId("m"), TurnId("t"), "assistant", tuple(asked), 1, "complete", "m")
    done = replace(asked[1], state=ToolCompleted(Output("the text of f1"), 1, 2))
    after = replace(begun, parts=(asked[0], done, asked[2]))
    view = ModelView(static(), count, 1.2, 0)
    view.size([begun])
    counted.clear()
    size, prompt = view.size([after]), view.prompt([after])
    assert counted == ["the text of f1"]
    fresh = ModelView(static(), count, 1.2, 0)
    assert size == fresh.size([after])
    anew = fresh.prompt([after])
    assert spoken(prompt.messages) == spoken(anew.messages)
    assert prompt.breakpoints == anew.breakpoints
    counted.clear()
    view.size([replace(after, status="open")])
    assert not counted, "counted roughly while the answer is open"
    view.size([after])
    assert len(counted) == 9, "of each call name, input and result"


def test_a_prompt_is_built_once_while_nothing_of_it_changes() -> None:
    view = ModelView(static(), lambda text: len(text) // 4, 1.2, 0)
    talk = history("U41 A83")
    built, sized = view.prompt(talk), view.size(talk)
    assert view.prompt(list(talk)) is built
    assert view.size(iter(talk)) is sized
    assert view.prompt(talk[:1]) != built
    assert view.size(talk[:1]) != sized
    assert view.prompt(talk) == built
    # A copy to try changes on leaves the first as it was.
    other = view.imagined()
    other.restate(static(model="n"), 1)
    assert other.size(talk) == sized
    view.calibration = Calibration(2.0)
    assert view.size(talk).total > sized.total

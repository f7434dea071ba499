"""Thinking goes back only where it was thought, whatever is rewritten and taken back."""

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.parts import Message, MessageId, PartId, ReasoningPart, TextPart, TurnId
from sidecar.core.prompt.visibility import (
    Dropped,
    Note,
    Rewrite,
    View,
    fold_rewrites,
    notes_before,
    rendered_note,
    show,
)
from sidecar.session.view.stale_thinking import unbound
from sidecar.session.view.view_history import Epoch
from tests.core.prompts import rendered


@dataclass
class Story:
    """A conversation that is written, rewritten and taken back, with a strict provider."""

    messages: list[Message] = field(default_factory=list)
    rewrites: list[Rewrite] = field(default_factory=list)
    undone: set[str] = field(default_factory=set)
    epochs: list[Epoch] = field(default_factory=lambda: [Epoch(0, View())])
    bound: dict[str, object] = field(default_factory=dict)
    clock: int = 0

    @property
    def view(self) -> View:
        return self.epochs[-1].view

    def sent(self, until: int | None = None) -> tuple[object, ...]:
        notes = notes_before(self.view, self.messages)
        blocks: list[object] = []
        for message in self.messages[:until]:
            for note in notes.get(message.id, ()):
                blocks += [b.content for b in rendered_note(note).blocks]
            for one in rendered([show(message, self.view.shown)]):
                blocks += [b.content for b in one.blocks]
        return tuple(blocks)

    def say(self) -> None:
        self.clock += 1
        n = len(self.messages)
        turn = TurnId("t")
        typed = (TextPart(PartId(f"u{n}"), f"typed {n}", "typed"),)
        self.messages.append(Message(MessageId(f"m{n}"), turn, "user", typed, self.clock))
        self.bound[f"r{n}"] = self.sent()
        parts = (
            ReasoningPart(PartId(f"r{n}"), f"thought {n}", {"signature": f"s{n}"}),
            TextPart(PartId(f"a{n}"), f"said {n}", "model"),
        )
        self.clock += 1
        answer = Message(
            MessageId(f"m{n + 1}"), turn, "assistant", parts, self.clock, "complete", "m"
        )
        self.messages.append(answer)

    def change(self, rewrite: Rewrite) -> None:
        self.clock += 1
        standing = [r for r in self.rewrites if r.cause == "undo" or r.id not in self.undone]
        gone = unbound(self.messages, self.epochs, fold_rewrites([*standing, rewrite]))
        whole = Rewrite(
            rewrite.id,
            rewrite.cause,
            {**rewrite.shown, **dict.fromkeys(gone, Dropped())},
            rewrite.notes,
        )
        self.rewrites.append(whole)
        self.epochs.append(Epoch(self.clock, fold_rewrites([*standing, whole])))

    def check(self) -> None:
        for index, message in enumerate(self.messages):
            for part in message.parts:
                if isinstance(part, ReasoningPart) and part.id not in self.view.shown:
                    assert self.sent(index) == self.bound[part.id], part.id


STEPS = st.lists(
    st.one_of(
        st.just(("say", 0, None)),
        st.tuples(st.just("edit"), st.integers(0, 30), st.sampled_from([None, Dropped()])),
        st.tuples(st.just("note"), st.integers(0, 30), st.none()),
        st.tuples(st.just("undo"), st.integers(0, 9), st.none()),
    ),
    max_size=25,
)


@given(STEPS)
def test_no_thinking_loses_its_prefix(steps: list[tuple[str, int, Dropped | None]]) -> None:
    story = Story()
    story.say()
    for number, (what, where, how) in enumerate(steps):
        message = story.messages[where % len(story.messages)]
        match what:
            case "say":
                story.say()
            case "edit":
                part = message.parts[where % len(message.parts)]
                story.change(Rewrite(f"c{number}", "user", {part.id: how}))
            case "note":
                note = Note(PartId(f"n{number}"), f"note {number}", message.id)
                story.change(Rewrite(f"c{number}", "user", {}, (note,)))
            case _:
                able = [
                    r.id for r in story.rewrites if r.cause == "user" and r.id not in story.undone
                ]
                if able:
                    chosen = able[where % len(able)]
                    story.undone.add(chosen)
                    story.change(Rewrite(chosen, "undo", {}))
        story.check()


def test_what_is_taken_back_at_once_keeps_all_thinking() -> None:
    story = Story()
    for _ in range(4):
        story.say()
    before = story.sent()
    story.change(Rewrite("c", "user", {PartId("a2"): Dropped()}))
    assert {p for p, how in story.view.shown.items() if how == Dropped()} == {"a2", "r4", "r6"}
    story.undone.add("c")
    story.change(Rewrite("c", "undo", {}))
    assert story.sent() == before
    assert story.view == View()

"""A session of 100,000 parts, as years of work would leave it, written by the store's own writer.

Turns of typed words and steps with calls; whenever the context had filled, a rewrite that dropped
what was old and put one note in its place, as the daemon records it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from sidecar.core.parts import (
    Message,
    MessageId,
    Output,
    Part,
    PartId,
    SessionId,
    StepFinishPart,
    StepStartPart,
    TextPart,
    ToolCompleted,
    ToolPart,
    TurnId,
    Usage,
)
from sidecar.core.prompt.visibility import Dropped, Note, Rewrite
from sidecar.session.log.rewrite_records import Recorded
from sidecar.store.format.values import (
    AppendRecord,
    PutMessage,
    PutPart,
    PutSession,
    Record,
    SessionRow,
    StoreChange,
)
from sidecar.store.journal import Store
from tests.session.logged import body_of

STEPS = 12
PER_STEP = 4
PER_TURN = 2 + STEPS * PER_STEP
KEPT = 16
"""Turns that a rewrite leaves alone."""
EVERY = 25
"""Turns between rewrites; the last is one turn before a round number of turns."""
FILES = 400
BATCH = 40
"""Turns written as one unit."""
OUTPUT = "def handler(request):\n    return respond(request, status=200)\n" * 6


@dataclass
class Growing:
    """A session's log as it grows: its row, the turns so far and what a rewrite may drop."""

    row: SessionRow
    model: str
    now: int
    turn: int = 0
    parts: int = 0
    droppable: list[tuple[int, PartId]] = field(default_factory=list)
    firsts: list[MessageId] = field(default_factory=list)
    note: PartId | None = None
    steps: int = 0

    def record(self, kind: str, body: dict[str, object]) -> AppendRecord:
        self.now += 1
        self.row = replace(self.row, revision=self.row.revision + 1, updated=self.now)
        record = Record(self.row.revision, kind, self.now, body)  # type: ignore[arg-type] # JSON
        return AppendRecord(self.row.id, record)

    def put(self, message: Message) -> Iterator[StoreChange]:
        yield PutMessage(self.row.id, replace(message, parts=()))
        for position, part in enumerate(message.parts):
            yield PutPart(self.row.id, message.id, position, part)
        self.parts += len(message.parts)

    def one_turn(self) -> Iterator[StoreChange]:
        """Give a turn's changes."""
        self.turn += 1
        self.now += 60_000
        turn = TurnId(f"turn_{self.turn:08}")
        first = MessageId(f"msg_{self.turn:08}_00")
        self.firsts.append(first)
        typed: tuple[Part, ...] = (
            TextPart(PartId(f"part_{self.turn:08}_00_0"), f"Please do thing {self.turn}.", "typed"),
            TextPart(
                PartId(f"part_{self.turn:08}_00_1"),
                f"<context>\nDate: day {self.turn}\n</context>",
                "context",
            ),
        )
        self.droppable += [(self.turn, part.id) for part in typed]
        yield from self.put(Message(first, turn, "user", typed, self.now))
        yield self.record("turn_started", {"turnId": turn, "messageId": first})
        for number in range(1, STEPS + 1):
            yield from self.one_step(turn, number)
        yield self.record("turn_ended", {"turnId": turn, "stopReason": "end_turn"})
        if self.turn % EVERY == EVERY - 1:
            yield self.one_rewrite()

    def one_step(self, turn: TurnId, number: int) -> Iterator[StoreChange]:
        name = f"{self.turn:08}_{number:02}"
        self.now += 2_000
        self.steps += 1
        last = number == STEPS
        path = f"src/file_{(self.turn * 7 + number) % FILES}.py"
        output = Output(f"# {name}\n{OUTPUT}")
        done = ToolCompleted(output, self.now, self.now + 5)
        call = ToolPart(
            PartId(f"part_{name}_2"), f"toolu_{name}", "read_file", {"path": path}, done
        )
        ended: Part = TextPart(PartId(f"part_{name}_2"), f"Thing {self.turn} is done.", "model")
        asked = 36_000 + (self.turn + 1) % EVERY * 2_500 + number * 200
        parts: tuple[Part, ...] = (
            StepStartPart(PartId(f"part_{name}_0"), self.model),
            TextPart(PartId(f"part_{name}_1"), f"Looking at {path} for {self.turn}.", "model"),
            ended if last else call,
            StepFinishPart(
                PartId(f"part_{name}_3"),
                "end_turn" if last else "tool_use",
                Usage(300, asked, 400, 0, 60, requests=1),
                "0.01",
                self.now,
            ),
        )
        self.droppable += [(self.turn, part.id) for part in parts[1:3]]
        message = Message(
            MessageId(f"msg_{name}"), turn, "assistant", parts, self.now, model=self.model
        )
        yield from self.put(message)
        yield self.record("step", {"messageId": message.id, "predictedRead": asked, "read": asked})

    def one_rewrite(self) -> AppendRecord:
        """Drop all but the newest turns, with a note in the place of the last one."""
        until = self.turn - KEPT
        gone = {part_id: Dropped() for turn, part_id in self.droppable if turn <= until}
        self.droppable = [one for one in self.droppable if one[0] > until]
        text = f"Work so far, up to turn {until}.\n" + "- looked at many files\n" * 40
        note = Note(PartId(f"part_note_{self.turn:08}"), text, self.firsts[until])
        retired = () if self.note is None else (self.note,)
        self.note = note.id
        rewrite = Rewrite(f"cmp_{self.turn:08}", "budget", {**gone}, (note,), retired)
        recorded = Recorded(
            rewrite, "economic", "full", 98_000, 36_000, "0.1", self.steps,
            self.firsts[until], True, 1.0,
        )  # fmt: skip
        return self.record("rewrite", body_of(recorded))


async def grow(store: Store, session_id: SessionId, parts: int) -> Growing:
    """Let a new session, closed in every daemon, grow to so many parts."""
    stored = await store.logs.load(session_id)
    row = stored.session
    growing = Growing(row, str(row.settings["model"]), row.updated)
    while growing.parts + PER_TURN * BATCH <= parts:
        changes = [change for _ in range(BATCH) for change in growing.one_turn()]
        await store.write(PutSession(growing.row), *changes)
    while growing.parts + PER_TURN <= parts:
        await store.write(*growing.one_turn(), PutSession(growing.row))
    turns = replace(growing.row, turns=growing.turn, title="A long one", cost="240")
    growing.row = turns
    await store.write(PutSession(turns))
    return growing

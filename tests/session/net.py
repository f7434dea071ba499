"""The net under every session test: what no request may do, whatever the test is about."""

from dataclasses import dataclass, field

from sidecar.core.parts import PartId
from sidecar.core.prompt.prompt import ModelRequest, Prompt, broken_pairs, flat
from sidecar.model.messages.encode import encode
from sidecar.session.log.session_log import SessionLog
from sidecar.store.format.view_records import EpochRecord, ViewRecord
from tests.fakes.validation import refusal
from tests.session.logged import survives


@dataclass
class _Seen:
    """The last request of one session: its prompt, and how many epochs its log had begun."""

    prompt: Prompt
    epochs: int


@dataclass
class Net:
    """Pairs are whole; prompts only grow within an epoch; thinking stands where it was thought.

    Each record reads from the disk as what was written.
    A provider refuses a block of thinking whose prefix is not the request that it answered,
    tools and system text included.
    """

    last: dict[str, _Seen] = field(default_factory=dict)
    thought: dict[str, tuple[object, ...]] = field(default_factory=dict)
    read: dict[str, int] = field(default_factory=dict)

    def check(self, request: ModelRequest, log: SessionLog, *, moves_prefix: bool) -> None:
        prompt = request.prompt
        assert broken_pairs(prompt) == ()
        assert refusal(encode(request)) is None
        before = self.last.get(log.row.id)
        # One that only cut what had not been sent says that it begins no epoch.
        epochs = sum(
            isinstance(record, EpochRecord) or (isinstance(record, ViewRecord) and record.opens)
            for record in log.records
        )
        for record in log.records[self.read.get(log.row.id, 0) :]:
            assert survives(record)
        self.read[log.row.id] = len(log.records)
        if request.purpose == "summary":
            _beside(prompt, before, epochs)
            return
        if before is not None:
            self._bind(before.prompt, log)
            if epochs == before.epochs and not moves_prefix:
                old = before.prompt
                assert (old.tools, old.system) == (prompt.tools, prompt.system)
                assert flat(prompt)[: len(flat(old))] == flat(old)
        self._bound(prompt, log)
        self.last[log.row.id] = _Seen(prompt, epochs)

    def _bind(self, answered: Prompt, log: SessionLog) -> None:
        """Thinking that has come since is bound to the request that it came for."""
        prefix = (*_static(answered), *(block.content for block in flat(answered)))
        for message in log:
            for part in message.parts:
                if part.id not in self.thought and hasattr(part, "metadata"):
                    self.thought[part.id] = prefix

    def _bound(self, prompt: Prompt, log: SessionLog) -> None:
        owner = {part.id: m.id for m in log for part in m.parts}
        blocks = flat(prompt)
        for index, block in enumerate(blocks):
            if block.region != "reasoning" or block.part_id not in self.thought:
                continue
            start = index
            while start and _same_answer(blocks[start - 1].part_id, block.part_id, owner):
                start -= 1
            prefix = (*_static(prompt), *(b.content for b in blocks[:start]))
            assert prefix == self.thought[block.part_id], f"{block.part_id} lost its prefix"


def _beside(prompt: Prompt, before: _Seen | None, epochs: int) -> None:
    """What is asked beside the conversation stands alone, or extends what was sent last."""
    alone = not prompt.tools and len(prompt.messages) == 1
    if alone or before is None or epochs != before.epochs:
        return
    old = before.prompt
    assert (old.tools, old.system) == (prompt.tools, prompt.system)
    assert flat(prompt)[: len(flat(old))] == flat(old)


def _static(prompt: Prompt) -> tuple[object, ...]:
    return (*prompt.tools, *(block.content for block in prompt.system))


def _same_answer(one: PartId | None, other: PartId | None, owner: dict[str, str]) -> bool:
    return owner.get(str(one)) == owner.get(str(other))

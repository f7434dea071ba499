"""Prepares a recorded session for judging."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from sidecar.core.dataclass import dataclass
from sidecar.core.errors import BadRequest
from sidecar.core.ledger.units import Item
from sidecar.core.parts import Message, Usage
from sidecar.core.plans.guard import NOTES
from sidecar.core.plans.plan import Plan, Situation
from sidecar.core.policies import policies
from sidecar.core.prompt.pricing import ModelInfo
from sidecar.core.prompt.tokens import Count
from sidecar.core.summaries.extractive import extract
from sidecar.core.summaries.model_summary import (
    Brief,
    instruction,
    left_out,
    read_summary,
    summary_before,
    transcript,
    with_summary,
)
from sidecar.core.text.visible import visible
from sidecar.replay.compare import Settings
from sidecar.replay.conversation import Conversation, listen
from sidecar.replay.importers.recognition import open_transcript
from sidecar.replay.judge.judge_questions import CUTS, context_text
from sidecar.replay.judge.questions import Question, questions_of
from sidecar.replay.simulate import SimulatedRun, TellSummary, simulate
from sidecar.replay.transcript import Compacted, DamagedLine

FRAMING = 4_000
"""Tokens beside a context: questions, and instructions for answers."""
NEVER_COMPACTED = "window"
"""Path of the error for a session that fits into the window uncompacted."""
ANSWERED, COMPARED, RULED = 120, 450, 60
"""Expected tokens of an answer, a question with both answers, and a verdict."""
CaseAnswer: TypeAlias = Callable[[str], str]
"""Writes a summary for an instruction; raises `ValueError` on failure."""


@dataclass(frozen=True, slots=True)
class Case:
    """A session, played under a policy to its last request.

    `full`, `compacted`: contexts as text, at most `cut` characters per result. `summaries`:
    estimated usage of each summary; `asking`: of answers and verdicts.
    """

    name: str
    requests: int
    rewrites: int
    questions: tuple[Question, ...]
    full: str
    compacted: str
    cut: int
    summaries: tuple[Usage, ...]
    asking: tuple[Usage, ...]
    conversation: Conversation
    settings: Settings

    def with_summaries(self, write: CaseAnswer, room: int) -> tuple[str, tuple[str, ...]]:
        """Returns the compacted context with a model's summaries, and failures.

        Blocks. `room`: tokens of material per request.
        """
        failed: list[str] = []
        run = _played(self.conversation, self.settings, _by(write, room, failed))
        return context_text(run.items, self.cut), tuple(failed)


def read_case(path: Path, count: Count, settings: Settings, judge: ModelInfo, most: int) -> Case:
    """Plays a session under the first policy; `most`: tokens per answer.

    Raises BadRequest without a recording, or for a session never compacted or too large.
    """
    transcript_ = open_transcript(path)
    entries = [entry for entry in transcript_.entries if not isinstance(entry, DamagedLine)]
    messages = _before_the_last_answer([e for e in entries if isinstance(e, Message)])
    heard = (None if isinstance(entry, Compacted) else entry for entry in entries)
    name = visible(transcript_.name)
    conversation = listen(heard, count, name, transcript_.format, transcript_.cwd)
    if not conversation.requests:
        raise BadRequest(f"{path} holds no answer of a model", "path")
    room = judge.window - most - FRAMING
    expected: list[Usage] = []
    tell = _by_extract(count, judge.token_factor, room, expected)
    run = _played(conversation, settings, tell)
    if not run.rewrites:
        raise BadRequest(
            f"{name} is not compacted in a window of {settings.window:,} tokens: "
            "choose a smaller one",
            NEVER_COMPACTED,
        )
    questions = questions_of(messages)
    if not questions:
        raise BadRequest(f"{name} holds nothing that could be asked about", "path")
    whole = _whole(conversation)
    for cut in CUTS:
        full, compacted = context_text(whole, cut), context_text(run.items, cut)
        sizes = [round(count(text) * judge.token_factor) for text in (full, compacted)]
        if max(sizes) <= room:
            break
    else:
        raise BadRequest(
            f"{name} does not fit into {judge.id}'s window of {judge.window:,} tokens, even with "
            f"{CUTS[-1]} characters of each result: judge it by a model with a larger one",
            "path",
        )
    return Case(
        name,
        len(conversation.requests),
        len(run.rewrites),
        questions,
        full,
        compacted,
        cut,
        tuple(expected),
        _asking(sizes, len(questions)),
        conversation,
        settings,
    )


def _asking(sizes: Sequence[int], questions: int) -> tuple[Usage, ...]:
    answers = [Usage(size + FRAMING // 4, output=ANSWERED * questions) for size in sizes]
    return (*answers, Usage(COMPARED * questions, output=RULED * questions))


def _before_the_last_answer(messages: Sequence[Message]) -> Sequence[Message]:
    # The last request could not ask about its own answer.
    answers = [
        number
        for number, message in enumerate(messages)
        if message.role == "assistant" and message.status != "discarded"
    ]
    return messages[: answers[-1]] if answers else ()


def _whole(conversation: Conversation) -> list[Item]:
    end = conversation.requests[-1].end
    rows = zip(conversation.units[:end], conversation.tokens, conversation.calls, strict=False)
    return [Item(unit, tokens, call) for unit, tokens, call in rows]


def _played(conversation: Conversation, settings: Settings, tell: TellSummary) -> SimulatedRun:
    policy = policies()[settings.policies[0]]
    return simulate(conversation, policy, settings.window, settings.rates, tell)


def _by_extract(count: Count, factor: float, room: int, expected: list[Usage]) -> TellSummary:

    def tell(plan: Plan, situation: Situation) -> Plan:
        request = _request(plan, situation, room)
        wanted = 0 if plan.summary is None else plan.summary.output_tokens
        expected.append(Usage(round(count(request) * factor), output=wanted))
        return _extracted(plan, situation)

    return tell


def _by(write: CaseAnswer, room: int, failed: list[str]) -> TellSummary:

    def tell(plan: Plan, situation: Situation) -> Plan:
        try:
            reply = write(_request(plan, situation, room))
            text = read_summary(reply).text
            finish = None if plan.summary is None else plan.summary.finish
            return finish(plan, situation, reply) if finish else with_summary(plan, text, "model")
        except ValueError as error:
            failed.append(str(error))
            return _extracted(plan, situation)

    return tell


def _request(plan: Plan, situation: Situation, room: int) -> str:
    wanted = plan.summary
    assert wanted is not None
    before = summary_before(plan, situation)
    # A summary that decides about all parts must see all parts.
    material = left_out(plan, situation) if wanted.finish is None else situation.items
    told = transcript(material, room // 2)
    return f"{told}\n\n{instruction(Brief(), before, wanted.output_tokens, wanted.prompt)}"


def _extracted(plan: Plan, situation: Situation) -> Plan:
    gone = [i.unit for i in left_out(plan, situation) if i.unit.kind not in NOTES]
    room = 0 if plan.summary is None else plan.summary.output_tokens
    text = extract(gone, summary_before(plan, situation), room)
    return with_summary(plan, text, "extract") if text else plan

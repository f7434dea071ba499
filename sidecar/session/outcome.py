"""How a turn is reported to who asked for it."""

from sidecar.core.parts import MessageId, StepFinishPart, TurnId
from sidecar.core.turns import turn_usage
from sidecar.session.asking import asked_since
from sidecar.session.gauge import read_meter
from sidecar.session.state import State
from sidecar.session.turn import TurnEnd
from sidecar.session.values import PromptResult


def result_of(state: State, turn_id: TurnId, message_id: MessageId, end: TurnEnd) -> PromptResult:
    """Gather a turn's result: usage and cost of its steps and summaries, and the meter now."""
    messages = [m for m in state.log if m.turn_id == turn_id]
    costs = [p.cost for m in messages for p in m.parts if isinstance(p, StepFinishPart)]
    asked = asked_since(state, turn_id)
    return PromptResult(
        end.stop_reason,
        turn_id,
        message_id,
        state.log.row.revision,
        sum((usage for usage, _ in asked), turn_usage(messages)),
        state.total([*costs, *(cost for _, cost in asked)]),
        read_meter(state),
        end.error,
    )

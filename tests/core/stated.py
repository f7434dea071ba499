"""Facts that somebody stated in a turn."""

from sidecar.core.conversation.fact import Fact, FactKind, Speaker
from sidecar.core.parts import TurnId


def stated(
    content: str,
    kind: FactKind = "decision",
    at: int = 5,
    source: str = "turn_1",
    who: Speaker = "user",
) -> Fact:
    return Fact(kind, content, TurnId(source), at, who)

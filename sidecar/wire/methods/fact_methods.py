"""`facts/…`: facts found out by sessions."""

from collections.abc import Mapping

from sidecar.core.parts import Json
from sidecar.session.desk.shared_environment import SharedEnvironment
from sidecar.session.epochs import lessons
from sidecar.session.turn.clock import iso
from sidecar.wire.connection import Connection
from sidecar.wire.dispatch import Handler, Ticket
from sidecar.wire.messages import FactsListParams
from sidecar.wire.methods.session_methods import given


def handlers(shared: SharedEnvironment) -> Mapping[str, Handler]:
    async def listed(_: Connection, params: FactsListParams, __: Ticket) -> Json:
        found = await lessons.find(
            (await shared.ready()).store.facts,
            given(params.session_id),
            given(params.cwd),
            given(params.kind),
            given(params.query),
        )
        facts: list[Json] = [
            {
                "factId": one.id,
                "kind": one.fact.kind,
                "content": one.fact.content,
                "source": {
                    "sessionId": one.session_id,
                    "turnId": one.fact.source,
                    "saidBy": one.fact.who,
                },
                "at": iso(one.fact.at),
                "learned": one.learned,
            }
            for one in found
        ]
        return {"facts": facts}

    return {"facts/list": listed}

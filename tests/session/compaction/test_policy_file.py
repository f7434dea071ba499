"""A new policy is one file: nothing else has to be told of it."""

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from sidecar.core import policies as package
from sidecar.core.policies import policies, presets
from sidecar.replay.compare import Settings, replay_file
from sidecar.session.log.events import EpochChanged, OptionsChanged
from tests.replay.neutral_files import recording
from tests.replay.talks import RATES
from tests.session import inside
from tests.session.conftest import Desk

FILE = '''\
"""`tidy`: no result stays once there are 20,000 tokens."""

from dataclasses import dataclass

from sidecar.core.plans.draft import draft, forced, leave_out
from sidecar.core.plans.guard import untouchable
from sidecar.core.plans.plan import Plan, Situation, Standing
from sidecar.core.prompt.prompt import Ttl
from sidecar.core.prompt.visibility import Cause


@dataclass(frozen=True, slots=True)
class Tidy:
    name: str = "tidy"
    static_ttl: Ttl = "5m"

    def due(self, standing: Standing) -> Cause | None:
        return forced(standing) or ("budget" if standing.used >= 20_000 else None)

    def plan(self, situation: Situation, cause: Cause) -> Plan | None:
        calls = [item for item in situation.items if item.unit.kind == "call"]
        edits = leave_out(calls, untouchable(situation), "tidied")
        return draft(situation, self.name, cause, edits, f"{len(edits.changes)} tidied away")


'''
PLACES = {package: "POLICIES = (Tidy(),)\n", presets: "POLICY = Tidy()\n"}
"""Where policies are, and how one ends there."""


@pytest.fixture(params=PLACES, ids=["ours", "preset"])
def tidy(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """Put the file where policies are; gives the policy's name."""
    place: ModuleType = request.param
    folder = tmp_path / "policies"
    folder.mkdir()
    (folder / "tidy.py").write_text(FILE + PLACES[place])
    monkeypatch.setattr(place, "__path__", [*place.__path__, str(folder)])
    policies.cache_clear()
    yield "tidy"
    policies.cache_clear()
    sys.modules.pop(f"{place.__name__}.tidy", None)
    vars(place).pop("tidy", None)


async def test_it_is_offered_chosen_and_metered_and_it_rewrites(tidy: str, desk: Desk) -> None:
    worker = await desk.worker(policy="manual")
    await worker.turns(1, 3)
    offered = await worker.session.set_option("policy", tidy)
    option = next(one for one in offered if one["id"] == "policy")
    assert option["currentValue"] == tidy
    assert len(desk.of(OptionsChanged)) == 1
    assert worker.session.meter().compact_at == 20_000
    await worker.turns(2)
    told = desk.of(EpochChanged)
    assert {event.cause for event in told} == {"budget"}
    newest = inside.rewrites(worker.session)[-1]
    assert newest.policy == tidy
    assert newest.reason.endswith("tidied away")
    done = await worker.session.rewriting.compact(tidy, None, dry_run=True)
    assert done["tokensAfter"] < done["tokensBefore"]


def test_it_is_replayed(tidy: str, tmp_path: Path) -> None:
    path = recording(tmp_path / "one.jsonl", answers=60)
    session = replay_file(path, len, Settings((tidy, "manual"), 16_000, RATES))
    assert [one.policy for one in session.tallies] == [tidy, "manual"]

"""A policy of another package is one like ours, and where it fails the default decides."""

import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sidecar.core.plans.plan import Situation
from sidecar.core.policies import DEFAULT, policies
from sidecar.core.policies.policy_plugins import GROUP, load_plugin, plugins
from sidecar.replay.compare import Settings, replay_file
from sidecar.session.log.events import Notice
from tests.core.policies.situations import situation
from tests.replay.neutral_files import recording
from tests.replay.talks import RATES
from tests.session import inside
from tests.session.conftest import Desk, World

EXAMPLE = Path(__file__).parents[3] / "docs/examples/own-policy"
PROJECT = tomllib.loads((EXAMPLE / "pyproject.toml").read_text("utf-8"))["project"]
ENTRIES = PROJECT["entry-points"][GROUP]
MODULE = "sidecar_tidy"
Install = Callable[[str], None]
WINDOW = {"window": 60_000, "max_tokens": 4_000}
FULL = "U10 C60k; C40k; C10k; A10; U5 C200"


def forget() -> None:
    plugins.cache_clear()
    load_plugin.cache_clear()


def package(folder: Path, text: str) -> None:
    """Put the example there as an installed package, with the text of its module."""
    about = folder / "sidecar_tidy-1.0.0.dist-info"
    about.mkdir()
    entries = "".join(f"{name} = {place}\n" for name, place in ENTRIES.items())
    (about / "entry_points.txt").write_text(f"[{GROUP}]\n{entries}", "utf-8")
    (about / "METADATA").write_text("Name: sidecar-tidy\nVersion: 1.0.0\n", "utf-8")
    (folder / f"{MODULE}.py").write_text(text, "utf-8")


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Install the example from the text of its module."""

    def put(text: str) -> None:
        folder = tmp_path / "installed"
        folder.mkdir()
        package(folder, text)
        monkeypatch.syspath_prepend(folder)
        forget()

    yield put
    forget()
    sys.modules.pop(MODULE, None)


@pytest.fixture
def example(install: Install) -> None:
    install((EXAMPLE / MODULE / "__init__.py").read_text("utf-8"))


async def test_the_example_is_offered_and_rewrites(example: None, desk: Desk) -> None:
    assert len(policies()) == len(set(policies()))
    assert "tidy" in set(policies())
    worker = await desk.worker(policy="tidy", **WINDOW)
    assert worker.session.meter().compact_at == 30_000
    await worker.turns(6, 4)
    assert inside.rewrites(worker.session)[-1].policy == "tidy"
    assert desk.of(Notice) == []


def test_the_example_is_replayed(example: None, tmp_path: Path) -> None:
    path = recording(tmp_path / "one.jsonl", answers=60)
    session = replay_file(path, len, Settings(("tidy", "manual"), 16_000, RATES))
    assert [one.policy for one in session.tallies] == ["tidy", "manual"]
    assert session.tallies[0].rewrites > 0


FAILING = {
    "import": ('raise RuntimeError("no luck")', "RuntimeError: no luck"),
    "no policy": ("POLICY = 5", "AttributeError"),
    "another name": ("POLICY = Tidy('tidier')", "its name is 'tidier'"),
    "cause": ("Tidy.due = lambda self, standing: 'mood'", "'mood' is no cause"),
    "due": ("Tidy.due = lambda self, standing: 1 / 0", "ZeroDivisionError"),
    "plan": ("Tidy.plan = lambda self, situation, cause: 1 / 0", "ZeroDivisionError"),
    "answer": ("Tidy.plan = lambda self, situation, cause: 'all'", "str is no plan"),
    "parts": (
        "from dataclasses import replace\n_plan = Tidy.plan\n"
        "Tidy.plan = lambda *args: replace(_plan(*args), retired=('elsewhere',))",
        "changes what is not there",
    ),
}


@pytest.mark.parametrize("what", FAILING)
def test_where_a_plug_in_fails_the_default_plans_and_says_so(what: str, install: Install) -> None:
    spoilt, why = FAILING[what]
    install((EXAMPLE / MODULE / "__init__.py").read_text("utf-8") + "\n" + spoilt + "\n")
    policy, default = policies()["tidy"], policies()[DEFAULT]
    given: Situation = situation(FULL)
    if what not in ("plan", "answer", "parts"):
        assert policy.due(given.standing) == default.due(given.standing)
    plan, wanted = policy.plan(given, "user"), default.plan(given, "user")
    assert plan is not None
    assert wanted is not None
    assert (plan.policy, plan.changes) == (DEFAULT, wanted.changes)
    assert plan.reason.startswith(wanted.reason)
    assert "the plug-in tidy failed" in plan.reason
    assert why in plan.reason


async def test_a_session_goes_on_without_it_and_is_told_once(install: Install, desk: Desk) -> None:
    install('raise RuntimeError("no luck")')
    worker = await desk.worker(policy="tidy", **WINDOW)
    await worker.turns(6, 4)
    told = [notice.text for notice in desk.of(Notice) if "plug-in" in notice.text]
    assert told == [
        "The policy 'tidy' of a plug-in failed: RuntimeError: no luck. economic decides."
    ]
    assert inside.rewrites(worker.session)[-1].policy == DEFAULT


def test_a_name_of_ours_stays_ours(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ENTRIES, "codex", f"{MODULE}:POLICY")
    install('raise RuntimeError("not to be loaded")')
    assert "codex" in plugins()
    assert policies()["codex"].plan.__module__ == "sidecar.core.policies.presets.codex"
    assert list(policies()).count("codex") == 1


async def test_a_workspaces_own_plug_in_is_not_run(
    desk: Desk, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "mark"
    package(world.workspace, f"open({str(mark)!r}, 'w').close()\n")
    monkeypatch.syspath_prepend(world.workspace)
    forget()
    try:
        assert "tidy" in plugins()
        worker = await desk.worker(policy="tidy", **WINDOW)
        await worker.turns(1, 2)
    finally:
        forget()
    [told] = [notice.text for notice in desk.of(Notice) if "plug-in" in notice.text]
    assert "No module named" in told
    assert not mark.exists()

"""How old things are, whatever the clock does: by what was seen to pass, and by real files."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecar.config.retention import DAY, HOUR, Retention
from sidecar.core.files.tree import MIB
from sidecar.store.connection.seen_time import (
    MOST,
    SLACK,
    UNSEEN,
    Ages,
    Era,
    Uptime,
    believing,
    looked,
)
from sidecar.store.journal import Store
from tests.examples import examples
from tests.store.contents import noise
from tests.store.on_disk import opened_beside
from tests.store.samples import NOW
from tests.store.years import Years

MINUTE = 60_000


@dataclass
class Machine:
    """A machine whose clock can be set, and which can be off; `seen` is the time that it ran."""

    clock: int = NOW
    seen: int = 0
    boots: int = 0
    up: int = 0
    gaps: int = 0
    eras: tuple[Era, ...] = ()
    kept: list[tuple[int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.look()

    def look(self) -> Ages:
        found = looked(self.eras, self.clock, Uptime(str(self.boots), self.up))
        self.eras = found.eras
        return found

    def run(self, span: int) -> None:
        """Let time pass, looking every minute, or at least at its end."""
        for step in [MINUTE] * min(span // MINUTE, 30):
            self._pass(step)
        self._pass(max(0, span - 30 * MINUTE))

    def _pass(self, span: int) -> None:
        self.clock, self.up, self.seen = self.clock + span, self.up + span, self.seen + span
        self.look()

    def be_off(self, span: int) -> None:
        """Be off for so long; what the clock says of that is set apart."""
        self.clock, self.up = self.clock + span, 0
        self.boots, self.gaps = self.boots + 1, self.gaps + 1
        self.look()

    def keep(self) -> None:
        self.kept.append((self.clock, self.seen))


def test_where_no_clock_is_set_a_date_says_how_old_a_thing_is() -> None:
    machine = Machine()
    machine.look()
    machine.keep()
    machine.run(10 * DAY)
    assert machine.look().of(NOW) == 10 * DAY
    assert machine.look().of(NOW + 3 * DAY) == 7 * DAY
    assert machine.look().noticed == ""
    assert len(machine.eras) == 1


@pytest.mark.parametrize("jump", [400 * DAY, -400 * DAY, 3 * HOUR, -3 * HOUR])
def test_a_jump_makes_nothing_older_and_is_told_once(jump: int) -> None:
    machine = Machine()
    machine.run(DAY)
    before = machine.clock
    machine.clock += jump
    found = machine.look()
    assert ("ahead" if jump > 0 else "back") in found.noticed
    assert found.of(before) == 0
    assert found.of(NOW) <= DAY
    assert machine.look().noticed == ""
    after = machine.clock
    machine.run(DAY)
    assert machine.look().of(after) == DAY
    assert DAY - SLACK <= machine.look().of(before) <= DAY or jump < 0
    machine.clock -= jump
    corrected = machine.look()
    assert corrected.noticed
    assert corrected.of(before) <= DAY
    assert corrected.of(after) <= DAY


def test_half_a_day_counts_of_a_time_that_nobody_saw() -> None:
    machine = Machine()
    machine.run(HOUR)
    machine.be_off(9 * HOUR)
    assert machine.look().of(NOW) == 10 * HOUR
    machine.be_off(300 * DAY)
    assert machine.look().of(NOW) == 10 * HOUR + UNSEEN
    machine.be_off(-500 * DAY)
    assert machine.look().of(NOW) == 10 * HOUR + UNSEEN
    machine.run(2 * DAY)
    assert machine.look().of(NOW) == 58 * HOUR + UNSEEN


def test_who_never_looked_before_takes_all_for_new() -> None:
    found = looked((), NOW, Uptime("a", 0))
    assert found.of(NOW) == found.of(NOW + DAY) == 0
    assert found.of(NOW - 900 * DAY) <= SLACK


def test_without_a_count_dates_are_believed() -> None:
    assert believing(NOW).of(NOW - 8 * DAY) == 8 * DAY
    assert believing(NOW).of(NOW + DAY) == 0


_SPANS = st.integers(0, 40 * DAY)
_JUMPS = st.integers(-900 * DAY, 900 * DAY)
_ACTS = st.lists(
    st.one_of(
        st.tuples(st.just("run"), _SPANS),
        st.tuples(st.just("set"), _JUMPS),
        st.tuples(st.just("off"), _JUMPS),
        st.tuples(st.just("keep"), st.just(0)),
    ),
    max_size=30,
)


@given(acts=_ACTS)
@settings(max_examples=examples(300), deadline=None)
def test_nothing_ever_ages_faster_than_time_was_seen_to_pass(acts: list[tuple[str, int]]) -> None:
    machine = Machine()
    machine.look()
    for act, span in acts:
        match act:
            case "run":
                machine.run(span)
            case "set":
                # Looks are a minute apart, so that no two settings fall between them.
                machine.clock += span
                machine.keep()
                machine.run(MINUTE)
            case "off":
                machine.be_off(span)
            case _:
                machine.keep()
    found = machine.look()
    for clock, seen in machine.kept:
        # Within an era a clock may be ahead by so much at one time, and behind at another.
        allowed = machine.seen - seen + machine.gaps * UNSEEN + len(machine.eras) * 2 * SLACK
        assert 0 <= found.of(clock) <= allowed


class Seen(Years):
    """A store on a machine whose clock the test sets, and whose count it does not."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.boot, self.up = "one", 5 * DAY
        self.open_again()

    def open_again(self) -> None:
        self.store = Store.open(
            self.folder, now=lambda: self.now, uptime=lambda: Uptime(self.boot, self.up)
        )

    async def pass_by(self, span: int) -> None:
        """Let time pass, with a look every hour, as there is one while a daemon runs."""
        for _ in range(span // HOUR):
            self.now, self.up = self.now + HOUR, self.up + HOUR
            assert await self.store.keeping.look() == ""


async def test_a_clock_that_jumps_ahead_lets_no_output_go(tmp_path: Path) -> None:
    years = Seen(tmp_path)
    await years.store.keeping.look()
    await years.put("old", noise("old"), at=years.now)
    await years.pass_by(6 * DAY)
    await years.put("new", noise("new"), at=years.now)
    years.now += 400 * DAY
    plan = await years.store.keeping.plan(Retention(outputs_days=7, archive_days=7))
    assert (plan.outputs, plan.sessions) == ((), ())
    assert "400.0 days ahead" in plan.noticed
    assert await years.sweep() == []
    assert "400.0 days ahead" in await years.store.keeping.look()
    await years.put("later", noise("later"), at=years.now)
    await years.pass_by(DAY + HOUR)
    assert await years.sweep() == ["old/part_1"]
    # The clock is put right, and what was stored before and meanwhile ages as it did.
    years.now -= 400 * DAY
    assert "400.0 days back" in await years.store.keeping.look()
    assert await years.sweep() == []
    await years.pass_by(6 * DAY - 2 * HOUR)
    assert await years.sweep() == []
    await years.pass_by(4 * HOUR)
    assert sorted(await years.sweep()) == ["later/part_1", "new/part_1"]
    await years.store.close()


async def test_a_machine_that_starts_with_a_wrong_date_lets_no_output_go(tmp_path: Path) -> None:
    years = Seen(tmp_path)
    await years.store.keeping.look()
    await years.put("ses_1", noise("a"), at=years.now)
    await years.pass_by(HOUR)
    for number, jump in enumerate((900 * DAY, -2_000 * DAY, 30 * DAY)):
        await years.store.close()
        years.now, years.boot, years.up = years.now + jump, f"boot {number}", MINUTE
        years.open_again()
        assert await years.sweep() == []
        assert await years.store.keeping.look()
        assert await years.sweep() == []
    # One that was really off for so long counts half a day of it, and then goes on.
    await years.pass_by(6 * DAY)
    assert await years.sweep() == ["ses_1/part_1"]
    await years.store.close()


async def test_a_session_that_was_just_used_is_live_whatever_the_clock_says(tmp_path: Path) -> None:
    years = Seen(tmp_path)
    await years.store.keeping.look()
    await years.put("used", noise("used"), at=years.now)
    years.now += 30 * DAY
    full = Retention(outputs_days=0, outputs_mib=1)
    await years.put("more", noise("more", 2 * MIB), at=years.now)
    assert (await years.store.keeping.plan(full)).outputs == ()
    await years.store.close()


async def test_a_warning_is_an_hour_ahead_although_the_clock_jumps(tmp_path: Path) -> None:
    years = Seen(tmp_path)
    await years.store.keeping.look()
    assert await years.store.keeping.warned(["outputs_mib"]) == frozenset()
    years.now += 30 * DAY
    assert await years.store.keeping.warned(["outputs_mib"]) == frozenset()
    await years.store.keeping.look()
    await years.pass_by(HOUR)
    assert await years.store.keeping.warned(["outputs_mib"]) == {"outputs_mib"}
    await years.store.close()


async def test_few_eras_are_kept_and_an_era_that_goes_on_is_seldom_written(tmp_path: Path) -> None:
    years = Seen(tmp_path)
    await years.store.keeping.look()
    with opened_beside(tmp_path) as con:
        before = con.execute("PRAGMA data_version").fetchone()
        for _ in range(5):
            years.now, years.up = years.now + MINUTE, years.up + MINUTE
            assert await years.store.keeping.look() == ""
        assert con.execute("PRAGMA data_version").fetchone() == before
        await years.put("ses_1", noise("a"), at=years.now)
        for _ in range(MOST + 20):
            years.now += DAY
            await years.store.keeping.look()
        assert con.execute("SELECT count(*) FROM era").fetchone() == (MOST,)
    assert await years.sweep() == []
    await years.pass_by(8 * DAY)
    assert await years.sweep() == ["ses_1/part_1"]
    await years.store.close()

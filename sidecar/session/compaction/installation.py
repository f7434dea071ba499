"""Makes a settled rewrite durable."""

from dataclasses import replace

from sidecar.session.compaction.milestones import Milestones
from sidecar.session.compaction.refusals import Refusals
from sidecar.session.compaction.rewrite_commit import RewriteCommits, TellEpoch
from sidecar.session.compaction.rewrite_figures import figures_of
from sidecar.session.compaction.settlement import Settled
from sidecar.session.epochs.lessons import Lessons
from sidecar.session.log.rewrite_records import Recorded
from sidecar.session.log.session_log import SessionLog
from sidecar.session.turn.clock import Clock
from sidecar.session.view.rewrite_counts import Counts


class Installations:
    """Installs rewrites; `tell` hears once of each change of the view."""

    def __init__(
        self,
        log: SessionLog,
        clock: Clock,
        commits: RewriteCommits,
        refusals: Refusals,
        lessons: Lessons,
        checkpoints: Milestones,
        counts: Counts,
        tell: TellEpoch,
    ) -> None:
        self._log = log
        self._clock = clock
        self._commits = commits
        self._refusals = refusals
        self._lessons = lessons
        self._checkpoints = checkpoints
        self._counts = counts
        self._tell = tell
        self._begun = 0

    def begin(self) -> None:
        """Notes when deciding begins, for the duration in the rewrite's record."""
        self._begun = self._clock.now()

    async def install(self, settled: Settled) -> Recorded:
        decision = settled.decision
        figures = {**decision.recorded.figures, "took": self._clock.now() - self._begun}
        if decision.opens:
            figures |= figures_of(decision, tuple(self._log))
        recorded = replace(
            decision.recorded,
            price=settled.price(),
            summary=settled.as_json(),
            figures=figures,
        )
        facts = settled.told.facts if settled.told is not None else ()
        decision = replace(decision, recorded=recorded)
        done = await self._commits.carry_out(decision, self._tell, facts)
        if done.opens:
            self._counts.rewrites += 1
            self._refusals.end()
        if facts:
            await self._lessons.promote()
        if done.opens:
            await self._checkpoints.at("compaction")
        return done

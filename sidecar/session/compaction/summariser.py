"""Summarises omitted parts the cheapest way.

After the provider's own compaction our question is asked; at last the log's own words serve.
"""

import logging
from dataclasses import field, replace
from decimal import Decimal
from typing import Literal

from sidecar.core.conversation.fact import Fact
from sidecar.core.conversation.wishes import for_agent
from sidecar.core.dataclass import dataclass
from sidecar.core.errors import ModelFailed
from sidecar.core.ledger.facts import supported
from sidecar.core.parts import JsonObject, Usage
from sidecar.core.plans.guard import NOTES
from sidecar.core.plans.plan import Asking, Plan, Situation
from sidecar.core.prompt.pricing import money, price, total
from sidecar.core.prompt.prompt import Breakpoint, ModelRequest, Prompt
from sidecar.core.prompt.render import Block, Rendered, TextBlock
from sidecar.core.prompt.tokens import count_block, tokens_of
from sidecar.core.summaries.extractive import extract
from sidecar.core.summaries.model_summary import (
    Brief,
    SummaryWriter,
    instruction,
    left_out,
    read_summary,
    summary_before,
    transcript,
    with_summary,
    without_summary,
)
from sidecar.core.summaries.sections import shortened
from sidecar.session.compaction.decision import Decision
from sidecar.session.compaction.planner import Scene
from sidecar.session.environment import Environment
from sidecar.session.log.session_log import SessionLog
from sidecar.session.log.whole_log import foreign_messages
from sidecar.session.meter.side_request import SideRequests, compaction_share
from sidecar.session.session_settings import SessionSettings
from sidecar.session.view.cache_state import CacheWatch

logger = logging.getLogger("sidecar.session")

ANSWER_LEAST = 4_096
"""Tokens that an answer may have at least: a model that thinks first needs them too."""
LEAST_TOLD = 4_000
"""Tokens of a conversation worth a fresh request; as many are left free for the question."""


@dataclass(frozen=True, slots=True)
class Way:
    """A way to ask for a summary; `usd` is estimated, `None` if unknown."""

    asking: Asking | Literal["server"]
    request: ModelRequest
    usd: Decimal | None
    foreseen: Usage | None = None

    @property
    def name(self) -> str:
        return f"{self.asking} {self.request.model}"


@dataclass(frozen=True, slots=True)
class Told:
    """A summary; `reply`: the model's raw answer.

    `cost`: USD; `problem`: why no model wrote; `figures` price each way.
    """

    text: str
    by: SummaryWriter
    reply: str = ""
    facts: tuple[Fact, ...] = ()
    calls: int = 0
    cost: str | None = "0"
    problem: str = ""
    figures: JsonObject = field(default_factory=dict)
    asked: tuple[str, ...] = ()

    def on(self, plan: Plan, situation: Situation) -> tuple[Plan, ...]:
        """Returns plans to try: with the summary, then shortened, at last without.

        A text longer than expected may not fit.
        """
        wanted, bare = plan.summary, without_summary(plan)
        if wanted is not None and wanted.finish is not None and self.by == "model":
            return wanted.finish(plan, situation, self.reply), bare
        if wanted is None or not self.text:
            return (bare,)
        whole = with_summary(plan, self.text, self.by)
        if tokens_of(self.text) <= wanted.output_tokens:
            return whole, bare
        short = shortened(self.text, wanted.output_tokens)
        return whole, with_summary(plan, short, self.by), bare

    def still_on(self, plan: Plan, situation: Situation) -> tuple[Plan, ...]:
        """Does as `on`, for a plan where new pins may leave no room."""
        try:
            return self.on(plan, situation)
        except ValueError:
            return (without_summary(plan),)


class Summariser:
    """Gets summaries written."""

    def __init__(
        self,
        environment: Environment,
        log: SessionLog,
        cached: CacheWatch,
        settings: SessionSettings,
        side: SideRequests,
    ) -> None:
        self._environment = environment
        self._log = log
        self._cached = cached
        self._settings = settings
        self._side = side
        self._failing: set[str] = set()

    def ways(self, scene: Scene, draft: Decision) -> tuple[Way, ...]:
        """Lists ways to ask, cheapest first.

        Behind the warm prefix an instruction costs a cache read; the omitted parts alone their
        tokens, perhaps a cheaper model's.
        """
        wanted, config = draft.plan.summary, self._environment.settings.config
        if wanted is None or not config.summaries:
            return ()
        text = instruction(
            self._brief(scene),
            summary_before(draft.plan, draft.situation),
            wanted.output_tokens,
            wanted.prompt,
        )
        models = dict.fromkeys((scene.view.static.model, config.summary_model))
        found = self._behind(scene, text, wanted.output_tokens)
        fresh = [self._fresh(draft, model, text) for model in models if model]
        found += [way for way in fresh if way is not None]
        return tuple(sorted(found, key=lambda way: (way.usd is None, way.usd or 0)))

    async def summarise(self, scene: Scene, draft: Decision, *, logged: bool = True) -> Told:
        possible = self.ways(scene, draft)
        figures: JsonObject = {
            way.name: None if way.usd is None else money(way.usd) for way in possible
        }
        if not possible:
            return replace(_extracted(draft, "no model is asked"), figures=figures)
        chosen, *others = possible
        asked, told = [chosen.name], await self._asked(scene, draft, chosen, logged=logged)
        if chosen.asking == "server" and told.by != "model":
            self._failing.add(chosen.request.model)
            own = await self._asked(scene, draft, others[0], logged=logged)
            before = f"the provider's own compaction failed: {told.problem}"
            told = replace(
                own,
                calls=told.calls + own.calls,
                cost=total((told.cost, own.cost)),
                problem=f"{before}; {own.problem}" if own.problem else before,
            )
            asked.append(others[0].name)
        return replace(told, figures={**figures, "asked": ", ".join(asked)}, asked=tuple(asked))

    async def _asked(self, scene: Scene, draft: Decision, way: Way, *, logged: bool) -> Told:
        self._environment.counts.summary_calls += 1
        try:
            reply = await self._side.ask(way.request, logged=logged, foreseen=way.foreseen)
        except ModelFailed as error:
            logger.warning("no summary: %s", error.message)
            return replace(_extracted(draft, error.message), calls=1)
        try:
            read = read_summary(reply.text)
            told = Told(read.text, "model", reply.text, calls=1, cost=reply.cost)
            told.on(draft.plan, draft.situation)
        except ValueError as error:
            logger.warning("no summary: %s", error)
            ended = "" if reply.text else f" (it ended as {reply.stop})"
            told = _extracted(draft, f"the answer could not be used: {error}{ended}")
            return replace(told, calls=1, cost=reply.cost)
        facts, refused = supported(read.facts, scene.messages, foreign_messages(self._log))
        if refused:
            logger.info("%d facts of a summary were not borne out", len(refused))
        return replace(told, facts=facts)

    def _brief(self, scene: Scene) -> Brief:
        kept = for_agent(self._environment.settings.config.preserve, self._settings.text("agent"))
        return Brief(kept.focus, kept.texts, scene.occasion.instructions)

    def _behind(self, scene: Scene, text: str, room: int) -> list[Way]:
        """Asks behind the present prompt, if the window is large enough.

        Only cached blocks are marked: a new entry would never be read.
        """
        view = scene.view
        prompt = view.prompt(scene.messages)
        cached = 0 if view.anchor is None else view.anchor.blocks
        asked = Block(TextBlock(text), "context")
        factor = view.calibration.factor
        most = self._most(room)
        added = round(count_block(asked, self._environment.models.count) * factor)
        coming = view.size(scene.messages).total + added + most
        if not prompt.messages or coming > self._settings.room().window:
            return []
        last = prompt.messages[-1]
        if last.role == "user":
            messages = (*prompt.messages[:-1], Rendered("user", (*last.blocks, asked)))
        else:
            messages = (*prompt.messages, Rendered("user", (asked,)))
        marks = tuple(mark for mark in prompt.breakpoints if _before(mark, prompt, cached))
        prompt = replace(prompt, breakpoints=marks)
        asking = replace(prompt, messages=messages)
        model, effort = view.static.model, self._settings.effort
        request = ModelRequest(model, asking, most, effort, "summary")
        info = self._environment.models.info(model)
        seen = self._cached.foresee(request, self._environment.clock.now(), info.cache, factor)
        usage = Usage(seen.uncached, seen.read, seen.write_5m, seen.write_1h, room)
        usd = price(info, usage)
        extension = Way("extension", request, usd)
        offered = self._environment.settings.config.server_summaries
        if not offered or usd is None or model in self._failing or len(text) > info.compaction:
            return [extension]
        # As much is sent, and less may be counted: the provider's own comes first until it came to
        # more than that.
        own = ModelRequest(model, prompt, most, effort, "compaction", text)
        return [Way("server", own, usd * compaction_share(self._log, model), usage), extension]

    def _fresh(self, draft: Decision, model: str, text: str) -> Way | None:
        wanted = draft.plan.summary
        info = self._environment.models.info(model)
        assert wanted is not None
        room = info.window - self._most(wanted.output_tokens) - LEAST_TOLD
        if room < LEAST_TOLD:
            return None
        told = transcript(left_out(draft.plan, draft.situation), round(room / info.token_factor))
        block = Block(TextBlock(f"{told}\n\n{text}"), "context")
        tokens = round(count_block(block, self._environment.models.count) * info.token_factor)
        prompt = Prompt((), (), (Rendered("user", (block,)),))
        most = min(self._most(wanted.output_tokens), info.max_output)
        request = ModelRequest(model, prompt, most, "", "summary")
        return Way("fresh", request, price(info, Usage(input=tokens, output=wanted.output_tokens)))

    def _most(self, room: int) -> int:
        return min(self._settings.max_tokens(), max(ANSWER_LEAST, 4 * room))


def _extracted(draft: Decision, problem: str) -> Told:
    wanted = draft.plan.summary
    room = 0 if wanted is None else wanted.output_tokens
    gone = [
        item.unit for item in left_out(draft.plan, draft.situation) if item.unit.kind not in NOTES
    ]
    text = extract(gone, summary_before(draft.plan, draft.situation), room) if room else ""
    return Told(text, "extract", problem=problem)


def _before(mark: Breakpoint, prompt: Prompt, blocks: int) -> bool:
    if mark.message is None:
        return True
    earlier = sum(len(message.blocks) for message in prompt.messages[: mark.message])
    return earlier + mark.block < blocks

"""Policies of other packages: entry points of the group `sidecar.policies`.

Where one fails, the fallback decides, and the reason is told.
"""

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from functools import cache
from typing import TYPE_CHECKING, TypeVar, get_args

from sidecar.core.dataclass import dataclass
from sidecar.core.plans.plan import Plan, Policy, Situation, Standing
from sidecar.core.prompt.prompt import Ttl
from sidecar.core.prompt.visibility import Cause

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "sidecar.policies"
Answer = TypeVar("Answer")
TellProblem = Callable[[str], None]


@cache
def plugins() -> "Mapping[str, EntryPoint]":
    from importlib.metadata import entry_points  # noqa: PLC0415 - few name a plug-in

    return {entry.name: entry for entry in entry_points(group=GROUP)}


@cache
def load_plugin(name: str, fallback: Policy) -> "PluginPolicy":
    found, problem = _tried(lambda: _loaded(name))
    own, wrong = found or (None, problem)
    return PluginPolicy(name, own, fallback, wrong)


def _tried(run: Callable[[], Answer]) -> tuple[Answer | None, str]:
    try:
        return run(), ""
    except Exception as error:  # noqa: BLE001 - whatever a package does, it fails alone
        return None, f"{type(error).__name__}: {error}"


def _loaded(name: str) -> tuple[Policy | None, str]:
    policy = plugins()[name].load()
    wrong = _wrong(name, policy)
    return None if wrong else policy, wrong


def _wrong(name: str, policy: Policy) -> str:
    hash(policy)
    if policy.name != name:
        return f"its name is {policy.name!r}"
    if policy.static_ttl not in get_args(Ttl):
        return f"its static_ttl is {policy.static_ttl!r}"
    return "" if callable(policy.due) and callable(policy.plan) else "it has no due and plan"


@dataclass(frozen=True, slots=True)
class PluginPolicy:
    """Asks a plug-in's policy, `own`, or on failure `fallback`.

    `problem`: why there is no `own`. `tell` hears of every failure.
    """

    name: str
    own: Policy | None
    fallback: Policy
    problem: str = ""
    tell: TellProblem | None = field(default=None, compare=False)

    @property
    def static_ttl(self) -> Ttl:
        return (self.own or self.fallback).static_ttl

    def due(self, standing: Standing) -> Cause | None:
        cause, problem = self._due(standing)
        return self._instead(problem).due(standing) if problem else cause

    def plan(self, situation: Situation, cause: Cause) -> Plan | None:
        _, problem = self._due(situation.standing)
        if not problem:
            plan, problem = self._try(lambda own: own.plan(situation, cause))
            problem = problem or _unsound(plan, situation)
            if not problem:
                return _guarded(plan)
        plan = self._instead(problem).plan(situation, cause)
        if plan is None:
            return None
        return replace(plan, reason=f"{plan.reason} (the plug-in {self.name} failed: {problem})")

    def _due(self, standing: Standing) -> tuple[Cause | None, str]:
        cause, problem = self._try(lambda own: own.due(standing))
        if cause is not None and cause not in get_args(Cause):
            return None, f"{cause!r} is no cause"
        return cause, problem

    def _try(self, ask: Callable[[Policy], Answer]) -> tuple[Answer | None, str]:
        own = self.own
        return (None, self.problem) if own is None else _tried(lambda: ask(own))

    def _instead(self, problem: str) -> Policy:
        if self.tell is not None:
            name = self.fallback.name
            self.tell(f"The policy {self.name!r} of a plug-in failed: {problem}. {name} decides.")
        return self.fallback


def _unsound(plan: Plan | None, situation: Situation) -> str:
    if plan is None:
        return ""
    if not isinstance(plan, Plan):
        return f"{type(plan).__name__} is no plan"
    known = {item.unit.part_id for item in situation.items}
    named = {change.part_id for change in plan.changes} | set(plan.retired)
    if plan.revision != situation.revision or not 0 <= plan.first < max(1, len(situation.items)):
        return "its plan is for another situation"
    return "" if named <= known else "its plan changes what is not there"


def _guarded(plan: Plan | None) -> Plan | None:
    """Makes a plan's `finish` raise only ValueError."""
    asked = None if plan is None else plan.summary
    if plan is None or asked is None or asked.finish is None:
        return plan
    finish = asked.finish

    def safely(draft: Plan, situation: Situation, reply: str) -> Plan:
        done, problem = _tried(lambda: finish(draft, situation, reply))
        problem = problem or _unsound(done, situation)
        if done is None or problem:
            raise ValueError(problem or "no plan")
        return done

    return replace(plan, summary=replace(asked, finish=safely))

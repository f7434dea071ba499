"""The policy that a session follows."""

from dataclasses import replace

from sidecar.config.reload import CurrentSettings
from sidecar.config.strategies import NOTHING
from sidecar.core.plans.plan import Policy
from sidecar.core.policies import DEFAULT, policies
from sidecar.core.policies.manual import MANUAL
from sidecar.core.policies.policy_plugins import PluginPolicy, TellProblem
from sidecar.session.session_settings import SessionSettings


class ChosenPolicy:
    """Finds the session's policy, weighted for its agent."""

    def __init__(
        self, settings: SessionSettings, current: CurrentSettings, tell: TellProblem | None = None
    ) -> None:
        """`tell` hears once of each failing plug-in."""
        self._settings = settings
        self._current = current
        self._tell = tell
        self._told: set[str] = set()

    def policy(self) -> Policy:
        return self.known(self._settings.text("policy")) or policies()[DEFAULT]

    def known(self, name: str) -> Policy | None:
        agents, agent = self._current.config.agents, self._settings.text("agent")
        weights = agents.get(agent, NOTHING).weights
        if weights:
            from sidecar.core.policies.evict import HYBRID, weighed  # noqa: PLC0415 - few have any

            if name == HYBRID:
                return weighed(weights)
        policy = policies().get(name)
        if not isinstance(policy, PluginPolicy):
            return policy
        return replace(policy, tell=lambda text: self._tell_once(name, text))

    def _tell_once(self, name: str, text: str) -> None:
        if self._tell is not None and name not in self._told:
            self._told.add(name)
            self._tell(text)

    def is_automatic(self) -> bool:
        return self._settings.is_on("autoCompact") and self.policy().name != MANUAL

"""The policy that a session goes by."""

from sidecar.config.reload import CurrentSettings
from sidecar.config.strategies import NOTHING
from sidecar.core.plans.plan import Policy
from sidecar.core.policies import DEFAULT, policies
from sidecar.core.policies.evict import HYBRID, weighed
from sidecar.core.policies.manual import MANUAL
from sidecar.session.session_settings import SessionSettings


class ChosenPolicy:
    """A session's policy, as set for the session and weighted for its agent."""

    def __init__(self, settings: SessionSettings, current: CurrentSettings) -> None:
        self._settings = settings
        self._current = current

    def policy(self) -> Policy:
        """The policy now."""
        return self.known(self._settings.text("policy")) or policies()[DEFAULT]

    def known(self, name: str) -> Policy | None:
        """A policy by name."""
        agents, agent = self._current.config.agents, self._settings.text("agent")
        weights = agents.get(agent, NOTHING).weights
        return weighed(weights) if weights and name == HYBRID else policies().get(name)

    def is_automatic(self) -> bool:
        """Whether to rewrite unasked."""
        return self._settings.is_on("autoCompact") and self.policy().name != MANUAL

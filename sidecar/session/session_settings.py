"""What is set for one session, within its model's limits."""

from sidecar.core.parts import Json
from sidecar.core.prompt.budget import Budget, budget
from sidecar.core.prompt.pricing import ModelInfo
from sidecar.model.contract import Model
from sidecar.session.log.session_log import SessionLog
from sidecar.session.turn.model_access import ModelAccess

ANSWER_TOKENS = 32_000
"""Most tokens of an answer unless maxTokens is set, within the model's limit."""


def answer_tokens(most: int | None, info: ModelInfo) -> int:
    """Most tokens of an answer: `most`, or 32,000, within the model's limit."""
    return min(most or ANSWER_TOKENS, info.max_output)


class SessionSettings:
    """A session's settings, as they stand in its row; a change waits for the next commit."""

    def __init__(self, log: SessionLog, models: ModelAccess) -> None:
        self._log = log
        self._models = models

    def text(self, name: str) -> str:
        """A setting as text; empty without a text."""
        value = self._log.row.settings.get(name)
        return value if isinstance(value, str) else ""

    def number(self, name: str) -> int | None:
        """A setting as a number; `None` without a number."""
        value = self._log.row.settings.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def is_on(self, name: str) -> bool:
        """Whether a switch is on, as it is unless set otherwise."""
        return self._log.row.settings.get(name) is not False

    def change(self, name: str, value: Json) -> None:
        """Set one of them."""
        self._log.entry.configure({**self._log.row.settings, name: value})

    @property
    def model_id(self) -> str:
        """Model of the next turn."""
        return self.text("model")

    @property
    def effort(self) -> str:
        """Effort of the model; empty for its own."""
        return self.text("effort")

    def model(self) -> Model:
        """Model to send requests to."""
        return self._models.find(self.model_id)

    def info(self) -> ModelInfo:
        """Catalogue entry of the model."""
        return self._models.info(self.model_id)

    def window(self) -> int:
        """Window in tokens: as set, within the model's own."""
        most = self.info().window
        return min(self.number("window") or most, most)

    def max_tokens(self) -> int:
        """Most tokens of an answer: as set, or 32,000, within the model's limit."""
        return answer_tokens(self.number("maxTokens"), self.info())

    def room(self) -> Budget:
        """The window, and what of it a prompt may take."""
        return budget(self.window(), self.max_tokens())

"""A session's settings, limited by its model."""

from sidecar.config.settings import ANSWER_TOKENS
from sidecar.core.parts import Json, JsonObject, SessionId
from sidecar.core.prompt.budget import Budget, budget
from sidecar.core.prompt.pricing import ModelInfo
from sidecar.model.contract import Model
from sidecar.session.log.session_log import SessionLog
from sidecar.session.turn.model_access import ModelAccess
from sidecar.store.content.outputs import PARENT
from sidecar.store.format.values import SessionRow

SYNCED = "synced"
"""The setting with a session's name on git refs, and its id."""


def answer_tokens(most: int | None, info: ModelInfo) -> int:
    """Limits `most`, or the usual number, by the model."""
    return min(most or ANSWER_TOKENS, info.max_output)


def parent_of(row: SessionRow) -> str | None:
    parent = row.settings.get(PARENT)
    return parent if isinstance(parent, str) else None


def synced_as(row: SessionRow) -> str:
    """Gives a session's name on git refs: its own id, unless it came from one or became a fork."""
    name, _, of = str(row.settings.get(SYNCED, "")).partition(" ")
    # Settings are copied to sessions that go on from this one.
    return name if name and of == row.id else row.id


def syncing_as(session_id: SessionId, name: str) -> JsonObject:
    return {SYNCED: f"{name} {session_id}"}


class SessionSettings:
    """Reads settings in the session's row; a change waits for the next commit."""

    def __init__(self, log: SessionLog, models: ModelAccess) -> None:
        self._log = log
        self._models = models

    def text(self, name: str) -> str:
        value = self._log.row.settings.get(name)
        return value if isinstance(value, str) else ""

    def number(self, name: str) -> int | None:
        value = self._log.row.settings.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def is_on(self, name: str) -> bool:
        return self._log.row.settings.get(name) is not False

    def change(self, name: str, value: Json) -> None:
        self._log.entry.configure({**self._log.row.settings, name: value})

    @property
    def model_id(self) -> str:
        """Names the next turn's model."""
        return self.text("model")

    @property
    def effort(self) -> str:
        """Empty means the model's own."""
        return self.text("effort")

    def model(self) -> Model:
        return self._models.find(self.model_id)

    def info(self) -> ModelInfo:
        return self._models.info(self.model_id)

    def max_tokens(self) -> int:
        return answer_tokens(self.number("maxTokens"), self.info())

    def room(self) -> Budget:
        """Limits the window by the model's."""
        most = self.info().window
        return budget(min(self.number("window") or most, most), self.max_tokens())

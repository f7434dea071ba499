"""Counts since the daemon's start."""

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import JsonObject


@dataclass(slots=True)
class Counts:
    """Counts previewed and cancelled summaries, too."""

    rewrites: int = 0
    summary_calls: int = 0

    def as_json(self) -> JsonObject:
        return {"rewrites": self.rewrites, "summaryCalls": self.summary_calls}

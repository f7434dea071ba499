"""How often contexts were rewritten and models asked for summaries, since the daemon started."""

from dataclasses import dataclass

from sidecar.core.parts import JsonObject


@dataclass(slots=True)
class Counts:
    """Of all sessions. A summary that was only looked at, or cancelled, was asked for too."""

    rewrites: int = 0
    summary_calls: int = 0

    def as_json(self) -> JsonObject:
        """Give them as `daemon/status` tells them."""
        return {"rewrites": self.rewrites, "summaryCalls": self.summary_calls}

"""Writes observations as OpenTelemetry spans; needs only the API."""

from opentelemetry.context import Context
from opentelemetry.trace import (
    Span,
    SpanKind,
    StatusCode,
    TracerProvider,
    set_span_in_context,
)

from sidecar.core.parts import Millis, SessionId
from sidecar.core.prompt.observation import (
    ModelAsked,
    Observation,
    SessionClosed,
    ToolDone,
    TurnBegun,
    TurnDone,
    ViewRewritten,
)
from sidecar.observe.telemetry.instruments import vendor_of

NANOS = 1_000_000
"""Nanoseconds per millisecond."""


class Traces:
    """Makes spans; a turn's is open from start to end."""

    def __init__(self, provider: TracerProvider, version: str, vendor: str) -> None:
        self._tracer = provider.get_tracer("sidecar", version)
        self._vendor = vendor
        self._turns: dict[SessionId, tuple[Span, Context]] = {}

    def take(self, seen: Observation) -> None:
        match seen:
            case TurnBegun():
                self._begin(seen)
            case TurnDone(session_id=name, at=at, stop=stop):
                self._end(name, at, stop)
            case SessionClosed(session_id=name):
                # An open turn was broken off at an unknown time.
                self._turns.pop(name, None)
            case ModelAsked():
                self._asked(seen)
            case ToolDone():
                self._tool(seen)
            case ViewRewritten():
                self._rewritten(seen)
            case _:
                pass

    def _begin(self, turn: TurnBegun) -> None:
        about = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.provider.name": self._vendor,
            "gen_ai.agent.name": "sidecar",
            "gen_ai.conversation.id": turn.session_id,
        }
        span = self._tracer.start_span(
            "invoke_agent sidecar",
            context=Context(),
            kind=SpanKind.INTERNAL,
            attributes=about,
            start_time=turn.at * NANOS,
        )
        self._turns[turn.session_id] = span, set_span_in_context(span, Context())

    def _end(self, name: SessionId, at: Millis, stop: str) -> None:
        span, _ = self._turns.pop(name, (None, None))
        if span is not None:
            span.set_attribute("sidecar.stop_reason", stop)
            if stop == "error":
                span.set_status(StatusCode.ERROR)
            span.end(at * NANOS)

    def _asked(self, asked: ModelAsked) -> None:
        usage = asked.usage
        about: dict[str, str | int | float | tuple[str, ...]] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": vendor_of(self._vendor, asked.model),
            "gen_ai.request.model": asked.model,
            "gen_ai.conversation.id": asked.session_id,
            "gen_ai.usage.input_tokens": usage.prompt,
            "gen_ai.usage.output_tokens": usage.output,
            "gen_ai.usage.cache_read.input_tokens": usage.cache_read,
            "gen_ai.usage.cache_write.input_tokens": usage.cache_write_5m + usage.cache_write_1h,
            "sidecar.purpose": asked.purpose,
        }
        if asked.stop:
            about["gen_ai.response.finish_reasons"] = (asked.stop,)
        if asked.cost is not None:
            about["sidecar.cost"] = asked.cost
        if asked.break_ is not None:
            about["sidecar.cache.break"] = asked.break_[1]
        self._span(
            asked.session_id,
            f"chat {asked.model}",
            (asked.started, asked.at),
            about,
            kind=SpanKind.CLIENT,
            error=asked.error,
        )

    def _tool(self, done: ToolDone) -> None:
        about: dict[str, str | int | float | tuple[str, ...]] = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": done.tool,
            "gen_ai.tool.call.id": done.call_id,
            "gen_ai.conversation.id": done.session_id,
        }
        if done.left_out:
            about["sidecar.tool.left_out"] = done.left_out
        took = (done.started, done.at)
        self._span(done.session_id, f"execute_tool {done.tool}", took, about, error=done.failure)

    def _rewritten(self, done: ViewRewritten) -> None:
        about: dict[str, str | int | float | tuple[str, ...]] = {
            "gen_ai.conversation.id": done.session_id,
            "sidecar.cause": done.cause,
            "sidecar.policy": done.policy,
            "sidecar.tokens.before": done.before,
            "sidecar.tokens.after": done.after,
        }
        if done.price is not None:
            about["sidecar.cost"] = done.price
        took = (done.at - done.took, done.at)
        self._span(done.session_id, f"compact {done.cause}", took, about)

    def _span(
        self,
        session_id: SessionId,
        name: str,
        took: tuple[Millis, Millis],
        about: dict[str, str | int | float | tuple[str, ...]],
        *,
        kind: SpanKind = SpanKind.INTERNAL,
        error: str = "",
    ) -> None:
        _, within = self._turns.get(session_id, (None, Context()))
        span = self._tracer.start_span(
            name, context=within, kind=kind, attributes=about, start_time=took[0] * NANOS
        )
        if error:
            span.set_attribute("error.type", error)
            span.set_status(StatusCode.ERROR)
        span.end(max(took) * NANOS)

"""Writes observations as OpenTelemetry metrics; needs only the API."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial

from opentelemetry.metrics import CallbackOptions, Counter, Histogram, Meter, MeterProvider
from opentelemetry.metrics import Observation as Level

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Millis, SessionId
from sidecar.core.prompt.meter import Meter as ContextMeter
from sidecar.core.prompt.observation import (
    ModelAsked,
    Observation,
    PlanMade,
    RestoreDone,
    Retried,
    SessionClosed,
    SnapshotTaken,
    ToolDone,
    TurnBegun,
    TurnDone,
    ViewRewritten,
)
from sidecar.observe.telemetry.instruments import INSTRUMENTS, Instrument, vendor_of

Attributes = Mapping[str, str]
NONE: Attributes = {}


@dataclass(frozen=True, slots=True)
class Levels:
    """Functions that return levels now, called from any thread.

    `alerts`: count by (name, level); `store`: bytes.
    """

    contexts: Callable[[], Mapping[SessionId, ContextMeter]]
    queues: Callable[[], Mapping[str, int]]
    alerts: Callable[[], Mapping[tuple[str, str], int]]
    store: Callable[[], int]


class Metrics:
    """Feeds the instruments of `observe/telemetry/instruments`."""

    def __init__(self, provider: MeterProvider, version: str, vendor: str, levels: Levels) -> None:
        meter = provider.get_meter("sidecar", version)
        made = {one.name: _make(meter, one) for one in INSTRUMENTS.values()}
        self._counters = {name: one for name, one in made.items() if isinstance(one, Counter)}
        self._histograms = {name: one for name, one in made.items() if isinstance(one, Histogram)}
        self._hit_rate = meter.create_gauge(
            *_told(INSTRUMENTS["sidecar.cache.hit_rate"]),
        )
        for name, ask in _observed(levels).items():
            meter.create_observable_gauge(
                name, [partial(_answer, ask)], *_told(INSTRUMENTS[name])[1:]
            )
        self._vendor = vendor
        self._begun: dict[SessionId, Millis] = {}

    def take(self, seen: Observation) -> None:
        match seen:
            case ModelAsked():
                self._asked(seen)
            case ToolDone():
                self._tool(seen)
            case ViewRewritten():
                self._rewritten(seen)
            case TurnBegun(session_id=name, at=at):
                self._begun[name] = at
            case SessionClosed(session_id=name):
                self._begun.pop(name, None)
            case TurnDone(session_id=name, at=at, stop=stop):
                about = _turn(self._vendor, stop)
                took = max(0, at - self._begun.pop(name, at)) / 1000
                self._record("gen_ai.invoke_agent.duration", took, about)
            case Retried(model=model, error=error):
                about = {"gen_ai.request.model": model, "error.type": error}
                self._add("sidecar.retries", 1, about)
            case PlanMade(seconds=seconds, policy=policy):
                self._record("sidecar.compaction.planning", seconds, {"sidecar.policy": policy})
            case SnapshotTaken(seconds=seconds):
                self._record("sidecar.snapshot.duration", seconds, NONE)
            case RestoreDone(seconds=seconds):
                self._record("sidecar.restore.duration", seconds, NONE)
            case _:
                pass

    def _asked(self, asked: ModelAsked) -> None:
        usage, model = asked.usage, asked.model
        vendor = vendor_of(self._vendor, model)
        about = _request(vendor, model)
        took = max(0, asked.at - asked.started) / 1000
        failed = _with_error(about, asked.error) if asked.error else about
        self._record("gen_ai.client.operation.duration", took, failed)
        if asked.error:
            if asked.error == "context_overflow":
                self._add("sidecar.context.overflows", 1, about)
            return
        for kind, tokens in (("input", usage.prompt), ("output", usage.output)):
            self._record("gen_ai.client.token.usage", tokens, _typed(vendor, model, kind))
        written = usage.cache_write_5m + usage.cache_write_1h
        self._add("gen_ai.client.inference.usage.input_tokens", usage.prompt, about)
        self._add("gen_ai.client.inference.usage.output_tokens", usage.output, about)
        self._add("gen_ai.client.inference.usage.cache_read.input_tokens", usage.cache_read, about)
        self._add("gen_ai.client.inference.usage.cache_write.input_tokens", written, about)
        by_model = _model(model)
        if usage.prompt:
            self._hit_rate.set(usage.cache_read / usage.prompt, by_model)
        if asked.cost is not None:
            self._add("sidecar.cost", asked.cost, {**about, "sidecar.purpose": asked.purpose})
            if asked.uncached is not None:
                saved = asked.uncached - asked.cost
                name = "sidecar.cache.saved" if saved >= 0 else "sidecar.cache.spent"
                self._add(name, abs(saved), by_model)
        if asked.break_ is not None:
            cause, segment = asked.break_
            where = {"sidecar.cause": cause, "sidecar.segment": segment}
            self._add("sidecar.cache.breaks", 1, where)

    def _tool(self, done: ToolDone) -> None:
        about = _named(done.tool)
        took = max(0, done.at - done.started) / 1000
        failed = _with_error(about, done.failure) if done.failure else about
        self._record("gen_ai.execute_tool.duration", took, failed)
        if done.left_out:
            self._add("sidecar.tool.truncated", 1, about)
            self._add("sidecar.tool.left_out", done.left_out, about)

    def _rewritten(self, done: ViewRewritten) -> None:
        for action, count in done.shown:
            self._add("sidecar.pruned", count, {"sidecar.action": action})
        if not done.opens:
            return
        cause, policy = {"sidecar.cause": done.cause}, {"sidecar.policy": done.policy}
        self._add("sidecar.compactions", 1, {**cause, **policy})
        self._record("sidecar.compaction.duration", done.took / 1000, cause)
        self._add("sidecar.compaction.saved", max(0, done.before - done.after), cause)
        if done.price is not None:
            # A rewrite of a cold prefix has a negative price: a shorter prefix is cheaper to write.
            self._add("sidecar.compaction.cost", max(0.0, done.price), cause)
        if done.compression is not None:
            self._record("sidecar.compaction.compression", done.compression, policy)
        if done.fidelity is not None:
            self._record("sidecar.compaction.fidelity", done.fidelity, policy)

    def _add(self, name: str, amount: float, about: Attributes) -> None:
        self._counters[name].add(amount, about)

    def _record(self, name: str, amount: float, about: Attributes) -> None:
        self._histograms[name].record(amount, about)


def _make(meter: Meter, one: Instrument) -> Counter | Histogram | None:
    match one.kind:
        case "counter":
            return meter.create_counter(*_told(one))
        case "histogram":
            return meter.create_histogram(
                *_told(one), explicit_bucket_boundaries_advisory=list(one.buckets)
            )
        case "gauge" | "observed":
            return None


def _told(one: Instrument) -> tuple[str, str, str]:
    return one.name, one.unit, one.description


ReadPoints = Callable[[], Iterable[tuple[float, Attributes]]]


def _observed(levels: Levels) -> Mapping[str, ReadPoints]:
    return {
        "sidecar.context.used": partial(_regions, levels),
        "sidecar.context.utilization": partial(_utilization, levels),
        "sidecar.queue.depth": lambda: (
            (depth, {"sidecar.queue": name}) for name, depth in levels.queues().items()
        ),
        "sidecar.store.size": lambda: ((levels.store(), NONE),),
        "sidecar.alerts.active": lambda: (
            (count, {"sidecar.alert": name, "sidecar.level": level})
            for (name, level), count in levels.alerts().items()
        ),
    }


def _answer(ask: ReadPoints, _: CallbackOptions) -> Iterator[Level]:
    return (Level(value, about) for value, about in ask())


def _regions(levels: Levels) -> Iterator[tuple[float, Attributes]]:
    for session_id, meter in levels.contexts().items():
        for region, tokens in meter.regions.items():
            yield tokens, {"gen_ai.conversation.id": session_id, "sidecar.region": region}


def _utilization(levels: Levels) -> Iterator[tuple[float, Attributes]]:
    for session_id, meter in levels.contexts().items():
        room = max(1, meter.limit)
        yield meter.used / room, {"gen_ai.conversation.id": session_id}


@lru_cache(maxsize=256)
def _request(vendor: str, model: str) -> Attributes:
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": vendor,
        "gen_ai.request.model": model,
    }


@lru_cache(maxsize=256)
def _typed(vendor: str, model: str, kind: str) -> Attributes:
    return {**_request(vendor, model), "gen_ai.token.type": kind}


@lru_cache(maxsize=256)
def _model(model: str) -> Attributes:
    return {"gen_ai.request.model": model}


@lru_cache(maxsize=1024)
def _named(tool: str) -> Attributes:
    return {"gen_ai.tool.name": tool}


@lru_cache(maxsize=64)
def _turn(vendor: str, stop: str) -> Attributes:
    return {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": vendor,
        "sidecar.stop_reason": stop,
    }


def _with_error(about: Attributes, error: str) -> Attributes:
    return {**about, "error.type": error}

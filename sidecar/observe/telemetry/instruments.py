"""Defines all metrics as data.

Names follow OpenTelemetry's conventions for generative AI (`gen_ai.…`, 1.44), else `sidecar.…`.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from sidecar.config import OFFLINE_MODEL
from sidecar.core.dataclass import dataclass

SECONDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
"""The conventions' buckets for durations."""
TOKENS = tuple(4**power for power in range(14))
"""The conventions' buckets for tokens of a request."""
SHARES = (0.25, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0)
TIMES = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 20.0, 40.0)

MODEL = ("gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model")


@dataclass(frozen=True, slots=True)
class Instrument:
    """A metric's definition; an `observed` gauge is read on demand."""

    name: str
    kind: Literal["counter", "histogram", "gauge", "observed"]
    unit: str
    description: str
    attributes: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()


_ALL = (
    Instrument(
        "gen_ai.client.token.usage",
        "histogram",
        "{token}",
        "Tokens of a request, by input (cached ones included) and output.",
        (*MODEL, "gen_ai.token.type"),
        TOKENS,
    ),
    Instrument(
        "gen_ai.client.operation.duration",
        "histogram",
        "s",
        "How long a request took, from sending it to its last byte.",
        (*MODEL, "error.type"),
        SECONDS,
    ),
    *(
        Instrument(
            f"gen_ai.client.inference.usage.{name}", "counter", "{token}", description, MODEL
        )
        for name, description in (
            ("input_tokens", "Tokens sent, cached ones included."),
            ("output_tokens", "Tokens answered, thinking included."),
            ("cache_read.input_tokens", "Tokens that came from the provider's cache."),
            ("cache_write.input_tokens", "Tokens written into the provider's cache."),
        )
    ),
    Instrument(
        "gen_ai.execute_tool.duration",
        "histogram",
        "s",
        "How long a tool call took, the user's permission included.",
        ("gen_ai.tool.name", "error.type"),
        SECONDS,
    ),
    Instrument(
        "gen_ai.invoke_agent.duration",
        "histogram",
        "s",
        "How long a turn took, from the prompt to its end.",
        ("gen_ai.operation.name", "gen_ai.provider.name", "sidecar.stop_reason"),
        SECONDS,
    ),
    Instrument(
        "sidecar.cost",
        "counter",
        "{USD}",
        "What requests cost, of known prices, by what they were for: turn, summary, ping.",
        (*MODEL, "sidecar.purpose"),
    ),
    Instrument(
        "sidecar.context.used",
        "observed",
        "{token}",
        "Tokens of the context at the end of the newest turn, by session and region.",
        ("gen_ai.conversation.id", "sidecar.region"),
    ),
    Instrument(
        "sidecar.context.utilization",
        "observed",
        "1",
        "The share of the room for input that is in use, by session.",
        ("gen_ai.conversation.id",),
    ),
    Instrument(
        "sidecar.context.overflows",
        "counter",
        "{request}",
        "Requests that the provider refused as too long.",
        MODEL,
    ),
    Instrument(
        "sidecar.compactions",
        "counter",
        "{compaction}",
        "Rewrites of the context, by cause and policy.",
        ("sidecar.cause", "sidecar.policy"),
    ),
    Instrument(
        "sidecar.compaction.duration",
        "histogram",
        "s",
        "How long a rewrite took, from the decision until it was durable, summary included.",
        ("sidecar.cause",),
        SECONDS,
    ),
    Instrument(
        "sidecar.compaction.planning",
        "histogram",
        "s",
        "How long looking for a rewrite took, without a summary, also where none was made.",
        ("sidecar.policy",),
        SECONDS,
    ),
    Instrument(
        "sidecar.compaction.cost",
        "counter",
        "{USD}",
        "What rewrites cost: what has to be written into the cache again, and the summary.",
        ("sidecar.cause",),
    ),
    Instrument(
        "sidecar.compaction.saved",
        "counter",
        "{token}",
        "Tokens that rewrites took out of the context.",
        ("sidecar.cause",),
    ),
    Instrument(
        "sidecar.compaction.compression",
        "histogram",
        "1",
        "How many times smaller a rewrite made what it changed.",
        ("sidecar.policy",),
        TIMES,
    ),
    Instrument(
        "sidecar.compaction.fidelity",
        "histogram",
        "1",
        "The share of what is likely to be needed that was still in sight after a rewrite.",
        ("sidecar.policy",),
        SHARES,
    ),
    Instrument(
        "sidecar.pruned",
        "counter",
        "{part}",
        "Parts that are shown otherwise now: evicted, dropped, truncated, excerpt.",
        ("sidecar.action",),
    ),
    Instrument(
        "sidecar.tool.truncated",
        "counter",
        "{call}",
        "Tool calls whose output was too long to be shown whole.",
        ("gen_ai.tool.name",),
    ),
    Instrument(
        "sidecar.tool.left_out",
        "counter",
        "By",
        "Bytes of tools' output that the model was not shown.",
        ("gen_ai.tool.name",),
    ),
    Instrument(
        "sidecar.cache.hit_rate",
        "gauge",
        "1",
        "The share of the newest prompt that came from the provider's cache.",
        ("gen_ai.request.model",),
    ),
    Instrument(
        "sidecar.cache.saved",
        "counter",
        "{USD}",
        "What requests would have cost more without a cache.",
        ("gen_ai.request.model",),
    ),
    Instrument(
        "sidecar.cache.spent",
        "counter",
        "{USD}",
        "What writing into the cache cost more than it saved, where it did.",
        ("gen_ai.request.model",),
    ),
    Instrument(
        "sidecar.cache.breaks",
        "counter",
        "{break}",
        "Requests whose prefix the cache did not serve, by cause and first segment.",
        ("sidecar.cause", "sidecar.segment"),
    ),
    Instrument(
        "sidecar.retries",
        "counter",
        "{attempt}",
        "Attempts that broke and were followed by another.",
        ("gen_ai.request.model", "error.type"),
    ),
    Instrument(
        "sidecar.queue.depth",
        "observed",
        "{item}",
        "What waits: prompts, messages to the client, writes to the store.",
        ("sidecar.queue",),
    ),
    Instrument(
        "sidecar.snapshot.duration",
        "histogram",
        "s",
        "How long remembering the workspace's state took.",
        (),
        SECONDS,
    ),
    Instrument(
        "sidecar.restore.duration",
        "histogram",
        "s",
        "How long going back, or forth again, took.",
        (),
        SECONDS,
    ),
    Instrument("sidecar.store.size", "observed", "By", "What the store takes on the disk."),
    Instrument(
        "sidecar.alerts.active",
        "observed",
        "{alert}",
        "Alerts that stand, by name and level.",
        ("sidecar.alert", "sidecar.level"),
    ),
)


def vendor_of(provider: str, model: str) -> str:
    return "sidecar" if model == OFFLINE_MODEL else provider


INSTRUMENTS: Mapping[str, Instrument] = MappingProxyType({one.name: one for one in _ALL})
"""Instruments by name."""

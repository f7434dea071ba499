"""Traces through the real SDK: a turn's span holds its requests, calls and rewrites."""

from typing import Any

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from sidecar.core.parts import Usage
from sidecar.observe.telemetry.traces import Traces
from tests.observe.seen import NOW, SES, asked, closed, rewritten, tool_done, turn_begun, turn_done

MS = 1_000_000


def spans_of(*seen: Any) -> dict[str, ReadableSpan]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    traces = Traces(provider, "0.1.0", "anthropic")
    for one in seen:
        traces.take(one)
    return {span.name: span for span in exporter.get_finished_spans()}


def test_a_turn_holds_its_requests_calls_and_rewrites() -> None:
    spans = spans_of(turn_begun(), asked(), tool_done(), rewritten(), turn_done(at=NOW + 5_000))
    turn = spans["invoke_agent sidecar"]
    assert turn.parent is None
    assert turn.context is not None
    assert set(spans) == {
        "invoke_agent sidecar",
        "chat claude-opus-5-5",
        "execute_tool shell",
        "compact budget",
    }
    for name, span in spans.items():
        if name != "invoke_agent sidecar":
            assert span.parent is not None
            assert span.parent.span_id == turn.context.span_id
    assert (turn.start_time, turn.end_time) == (NOW * MS, (NOW + 5_000) * MS)
    assert turn.attributes is not None
    assert turn.attributes["gen_ai.conversation.id"] == SES


def test_a_request_has_its_tokens_and_its_time() -> None:
    usage = Usage(input=500, cache_read=1500, cache_write_1h=300, output=40)
    span = spans_of(asked(usage=usage, stop="tool_use"))["chat claude-opus-5-5"]
    assert span.kind is SpanKind.CLIENT
    assert (span.start_time, span.end_time) == ((NOW - 1500) * MS, NOW * MS)
    about = dict(span.attributes or {})
    assert about["gen_ai.usage.input_tokens"] == 2300
    assert about["gen_ai.usage.cache_read.input_tokens"] == 1500
    assert about["gen_ai.usage.cache_write.input_tokens"] == 300
    assert about["gen_ai.usage.output_tokens"] == 40
    assert about["gen_ai.response.finish_reasons"] == ("tool_use",)
    assert about["sidecar.cost"] == 0.01


def test_what_failed_says_so() -> None:
    spans = spans_of(asked(error="overloaded", cost=None), tool_done(failure="denied"))
    for name, error in (("chat claude-opus-5-5", "overloaded"), ("execute_tool shell", "denied")):
        assert spans[name].status.status_code is StatusCode.ERROR
        assert dict(spans[name].attributes or {})["error.type"] == error


def test_turns_after_one_another_are_traces_of_their_own() -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    traces = Traces(provider, "0.1.0", "anthropic")
    for one in (turn_begun(), asked(), turn_done()) * 2:
        traces.take(one)
    found = {span.context.trace_id for span in exporter.get_finished_spans() if span.context}
    assert len(found) == 2


def test_a_turn_that_was_broken_off_is_forgotten() -> None:
    assert spans_of(turn_begun(), closed(), turn_done()) == {}

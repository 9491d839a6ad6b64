"""Traces over OTLP/HTTP, through OpenTelemetry's own exporter, which is an extra."""

import logging
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any
from urllib.parse import urlsplit

import requests

from fleet_runner.core.base.errors import SettingsError
from fleet_runner.core.lifecycle.traces import Span
from fleet_runner.settings import Settings

TIMEOUT = 5.0
"""Seconds that one export may take, with the exporter's own tries."""

SCOPE = "fleet_runner"

Send = Callable[[Sequence[Span]], bool]


def sender(settings: Settings) -> Send:
    """Return what sends spans, and says whether they were taken.

    Raises:
        SettingsError: the address cannot be meant, or the extra is missing.
    """
    url = urlsplit(settings.traces_url)
    if url.scheme not in {"http", "https"} or not url.hostname:
        raise SettingsError("setting 'traces_url' is no address; expected one like http://127.0.0.1:4318")
    if url.username or url.password or url.query:
        raise SettingsError("setting 'traces_url' holds more than an address; set OTEL_EXPORTER_OTLP_HEADERS instead")
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415  an extra
            OTLPSpanExporter,
        )
        from opentelemetry.sdk.trace.export import SpanExportResult  # noqa: PLC0415  likewise
    except ImportError as error:
        raise SettingsError(
            "traces_url is set, and what sends traces is missing; `pip install 'fleet-runner[traces]'`"
        ) from error
    # What it says of each failed try, and with it an address, is said once by whoever sends.
    logging.getLogger("opentelemetry.exporter").setLevel(logging.CRITICAL)
    address = f"{settings.traces_url.rstrip('/')}/v1/traces"
    exporter = OTLPSpanExporter(address, timeout=TIMEOUT, session=_session())
    resource = _resource()

    def send(spans: Sequence[Span]) -> bool:
        return exporter.export([_readable(each, resource) for each in spans]) is SpanExportResult.SUCCESS

    return send


def _session() -> requests.Session:
    """Return what follows nobody who sends us elsewhere: spans, and headers with a token, are for one address."""
    session = requests.Session()
    session.max_redirects = 0
    return session


def _resource() -> Any:
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415  an extra

    return Resource.create({"service.name": "fleet-runner", "service.version": version("fleet-runner")})


def _readable(span: Span, resource: Any) -> Any:
    """Return a span as the exporter takes it."""
    from opentelemetry.sdk.trace import Event, ReadableSpan  # noqa: PLC0415  an extra
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope  # noqa: PLC0415  likewise
    from opentelemetry.trace import SpanContext, Status, StatusCode, TraceFlags  # noqa: PLC0415  likewise

    def context(number: int) -> SpanContext:
        return SpanContext(span.trace, number, is_remote=False, trace_flags=TraceFlags(TraceFlags.SAMPLED))

    return ReadableSpan(
        name=span.name,
        context=context(span.id),
        parent=None if span.parent is None else context(span.parent),
        resource=resource,
        attributes=dict(span.facts),
        events=[Event(mark.name, dict(mark.facts), _nanoseconds(mark.at)) for mark in span.marks],
        status=Status(StatusCode.ERROR if span.failed else StatusCode.UNSET),
        start_time=_nanoseconds(span.began),
        end_time=_nanoseconds(span.ended),
        instrumentation_scope=InstrumentationScope(SCOPE),
    )


def _nanoseconds(at: float) -> int:
    return round(at * 1_000_000_000)

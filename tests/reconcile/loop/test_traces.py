"""Traces go to a receiver that reads OTLP: each run once, again after it was away, and never in the work's way."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from fleet_runner.adapters import traces
from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import SettingsError, StoreError
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.inventory.records import Device
from fleet_runner.core.lifecycle.actions import Decision, OpenRun
from fleet_runner.core.lifecycle.runs import Outcome, Run
from fleet_runner.core.lifecycle.spool import Ended, Judged, PlayEnd
from fleet_runner.core.lifecycle.states import Stage
from fleet_runner.reconcile.loop import traces as module
from fleet_runner.reconcile.loop.traces import Tracing, tracing
from fleet_runner.settings import Settings

NOW = 1_000_000.0


@dataclass(slots=True)
class Receiver:
    """What was received, at `url`; `status` is what it answers."""

    url: str = ""
    status: int = 200
    elsewhere: bool = False
    requests: list[ExportTraceServiceRequest] = field(default_factory=list)

    def spans(self) -> list[Any]:
        """Return every span that came, in its order."""
        return [
            span
            for request in self.requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    def named(self) -> list[str]:
        """Return their names."""
        return [span.name for span in self.spans()]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    found = Receiver()

    class Answers(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            assert self.path.removesuffix("?elsewhere") == "/v1/traces"
            status = 200 if found.elsewhere and "elsewhere" in self.path else found.status
            if status == 200:
                found.requests.append(ExportTraceServiceRequest.FromString(body))
            answer = ExportTraceServiceResponse().SerializeToString()
            self.send_response(status)
            if found.elsewhere:
                self.send_header("location", "/v1/traces?elsewhere")
            self.send_header("content-type", "application/x-protobuf")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        found.url = f"http://127.0.0.1:{server.server_port}"
        thread = Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield found
        server.shutdown()
        thread.join()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.create(f"sqlite:///{tmp_path}/fleet.db") as found:
        found.register([Device(f"gpu-{number}", "hgx", "gpu-server", "hall") for number in range(3)], NOW - 100)
        yield found


def opened(store: Store, name: str = "gpu-0") -> Run:
    node = store.node(name)
    assert node is not None
    opens = OpenRun(Stage.VERIFY, "as planned", batch=f"v-{name}")
    (run,) = store.apply(node, Decision((opens,), "", NOW), NOW - 60)
    return run


def ended(store: Store, run: Run, at: float = NOW) -> None:
    answer = Judged(run.node, NOW - 30, Result("xid", Verdict.FAIL, "password: hunter2"))
    store.ingest(run.batch, 0, 10, (answer, Ended(run.node, NOW - 5, PlayEnd.OK)))
    store.close_run(run, Outcome.PASSED, "password: hunter2", at)


@contextmanager
def followed(store: Store, receiver: Receiver) -> Iterator[Tracing]:
    settings = Settings(traces_url=receiver.url)
    yield Tracing(store, traces.sender(settings), clock=lambda: NOW)


def test_a_run_is_told_once_when_it_has_ended(store: Store, receiver: Receiver) -> None:
    with followed(store, receiver) as found:
        run = opened(store)
        found.visit()
        assert receiver.requests == []
        ended(store, run)
        found.visit()
        found.visit()
    assert receiver.named() == ["stage verify", "play"]
    whole, play = receiver.spans()
    facts = {each.key: each.value.string_value for each in whole.attributes}
    assert facts["fleet.node"] == "gpu-0"
    assert facts["fleet.outcome"] == "passed"
    assert facts["fleet.batch"] == "v-gpu-0"
    assert play.parent_span_id == whole.span_id
    assert [each.name for each in play.events] == ["xid"]
    assert whole.end_time_unix_nano == NOW * 1e9
    assert "hunter2" not in str(receiver.requests)


def test_what_opened_and_ended_between_two_looks_is_told(store: Store, receiver: Receiver) -> None:
    with followed(store, receiver) as found:
        found.visit()
        ended(store, opened(store, "gpu-1"))
        found.visit()
    assert receiver.named() == ["stage verify", "play"]


def test_a_start_tells_what_ended_lately_with_the_same_ids(store: Store, receiver: Receiver) -> None:
    ended(store, opened(store))
    for _ in range(2):
        with followed(store, receiver) as found:
            found.visit()
    first, _, again, _ = receiver.spans()
    assert (first.trace_id, first.span_id) == (again.trace_id, again.span_id)
    with followed(store, receiver) as found:
        found.clock = lambda: NOW + 3600
        found.visit()
    assert len(receiver.spans()) == 4


def test_what_a_receiver_does_not_take_is_kept_and_told_later(store: Store, receiver: Receiver) -> None:
    moment = [0.0]
    receiver.status = 400
    with followed(store, receiver) as found:
        found.steady = lambda: moment[0]
        ended(store, opened(store))
        found.visit()
        assert len(found.waiting) == 1
        receiver.status = 200
        found.visit()
        assert receiver.requests == []  # it pauses first
        moment[0] += module.PAUSE
        found.visit()
        assert not found.waiting
    assert receiver.named() == ["stage verify", "play"]


def test_no_more_waits_than_may(store: Store, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 2)
    receiver.status = 400
    with followed(store, receiver) as found:
        for number in range(3):
            ended(store, opened(store, f"gpu-{number}"))
        found.visit()
        assert [waiting[0].facts["fleet.node"] for waiting in found.waiting] == ["gpu-1", "gpu-2"]


def test_who_does_not_decide_tells_nothing_until_it_takes_over(store: Store, receiver: Receiver) -> None:
    with followed(store, receiver) as found:
        found.decides = lambda: False
        ended(store, opened(store))
        found.visit()
        assert receiver.requests == []
        found.decides = lambda: True
        found.visit()  # whoever decided before may have told it to nobody
        found.visit()
    assert receiver.named() == ["stage verify", "play"]


def test_a_run_that_cannot_be_read_now_is_told_later(
    store: Store, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    with followed(store, receiver) as found:
        ended(store, opened(store))
        with monkeypatch.context() as away:
            away.setattr(Store, "results", _away)
            with pytest.raises(StoreError):
                found.visit()
        found.visit()
        found.visit()
    assert receiver.named() == ["stage verify", "play"]


def test_what_is_sent_is_not_sent_elsewhere(store: Store, receiver: Receiver) -> None:
    receiver.status, receiver.elsewhere = 307, True
    with followed(store, receiver) as found:
        ended(store, opened(store))
        found.visit()
        assert len(found.waiting) == 1
    assert receiver.requests == []


def _away(*_: object) -> None:
    """Be a store that is away."""
    raise StoreError("store: away")


def test_beside_the_work_the_last_run_is_told_at_the_end(store: Store, receiver: Receiver) -> None:
    with tracing(Settings(traces_url=receiver.url), store, lambda: True):
        ended(store, opened(store), at=time.time())
    assert receiver.named() == ["stage verify", "play"]


@pytest.mark.parametrize("url", ["127.0.0.1:4318", "ftp://127.0.0.1", "http://user:pass@127.0.0.1:4318"])
def test_an_address_that_cannot_be_meant_is_said(url: str) -> None:
    with pytest.raises(SettingsError, match="traces_url") as said:
        traces.sender(Settings(traces_url=url))
    assert "pass@" not in str(said.value)


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(SettingsError, match=r"fleet-runner\[traces\]"):
        traces.sender(Settings(traces_url="http://127.0.0.1:4318"))

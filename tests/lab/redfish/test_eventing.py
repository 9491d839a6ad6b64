"""Subscriptions to an emulated BMC's events: taken, refused, delivered again, ended."""

import json
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from fleet_runner.lab.redfish import BmcBehaviour, Emulator
from tests.lab.redfish.talking import Client, emulator, wait
from tests.services.boot.sites import certificate

SERVICE = "/redfish/v1/EventService"
SUBSCRIPTIONS = f"{SERVICE}/Subscriptions"
FAILED = {"MessageId": "Power.1.0.PowerSupplyFailed", "MessageSeverity": "Critical", "MessageArgs": ["2"]}


class Ear:
    """Who listens: what came, by its headers and body, and with which status it is answered."""

    def __init__(self) -> None:
        self.heard: list[tuple[dict[str, str], dict[str, Any]]] = []
        self.status = 200
        self.url = ""

    def told(self) -> list[str]:
        """Which messages came, in order."""
        return [event["MessageId"] for _, body in self.heard for event in body["Events"]]


@contextmanager
def listening(tls: Path | None = None) -> Iterator[Ear]:
    """Listen on a port of this machine."""
    ear = Ear()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            ear.heard.append((dict(self.headers), body))
            self.send_response(ear.status)
            self.end_headers()

        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if tls is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(tls, tls.with_suffix(".key"))
        server.socket = context.wrap_socket(server.socket, server_side=True)
    ear.url = f"{'https' if tls else 'http'}://127.0.0.1:{server.server_port}/signals"
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield ear
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def hearing(**said: Any) -> Iterator[tuple[Emulator, Client, Ear]]:
    """A BMC, who talks with it, and who listens."""
    with listening() as ear, emulator(**said) as bmc, Client(bmc) as client:
        yield bmc, client, ear


def asked(ear: Ear, **more: Any) -> dict[str, Any]:
    """What a subscriber says."""
    return {"Destination": ear.url, "Protocol": "Redfish", "Context": "ours"} | more


def test_an_event_reaches_who_subscribed_with_his_headers_which_nobody_is_shown() -> None:
    with hearing() as (bmc, client, ear):
        headers = [{"Authorization": "Bearer secret"}]
        reply = client.ask("POST", SUBSCRIPTIONS, asked(ear, HttpHeaders=headers))
        assert reply.status_code == 201
        (member,) = client.get(SUBSCRIPTIONS)["Members"]
        assert member["@odata.id"] == reply.headers["Location"]
        shown = client.get(member["@odata.id"])
        assert (shown["Destination"], shown["Context"], shown["HttpHeaders"]) == (ear.url, "ours", [])
        assert "secret" not in json.dumps(shown) + reply.text
        bmc.tell(FAILED)
        wait(lambda: ear.heard)
        heard, body = ear.heard[0]
        assert heard["Authorization"] == "Bearer secret"
        assert body["Context"] == "ours"
        assert body["Events"][0].items() >= FAILED.items()
        assert client.ask("DELETE", member["@odata.id"]).status_code == 204
        bmc.tell(FAILED)
        assert client.get(SUBSCRIPTIONS)["Members@odata.count"] == 0
        assert len(ear.heard) == 1


def test_only_registries_that_were_asked_for_are_sent_and_nothing_while_it_is_off() -> None:
    with hearing() as (bmc, client, ear):
        client.ask("POST", SUBSCRIPTIONS, asked(ear, RegistryPrefixes=["Power"]))
        bmc.tell({"MessageId": "TaskEvent.1.0.TaskStarted"})
        assert client.ask("PATCH", SERVICE, {"ServiceEnabled": False}).ok
        bmc.tell(FAILED)
        assert client.ask("PATCH", SERVICE, {"ServiceEnabled": True}).ok
        bmc.tell(FAILED | {"MessageId": "Power.1.0.PowerSupplyRestored"})
        wait(lambda: ear.heard)
        assert ear.told() == ["Power.1.0.PowerSupplyRestored"]


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"Destination": "gpu-01"}, "PropertyValueFormatError"),
        ({"Protocol": "SNMPv2c"}, "PropertyValueNotInList"),
        ({"RegistryPrefixes": ["Acme"]}, "PropertyValueNotInList"),
        ({"DeliveryRetryPolicy": "Never"}, "PropertyValueNotInList"),
        ({"Colour": "red"}, "PropertyUnknown"),
        ({"VerifyCertificate": False}, "PropertyUnknown"),
    ],
)
def test_what_a_bmc_does_not_know_it_refuses_by_name(more: dict[str, Any], code: str) -> None:
    with hearing(habits=BmcBehaviour(unknown_to_events=("VerifyCertificate",))) as (_, client, ear):
        reply = client.ask("POST", SUBSCRIPTIONS, asked(ear) | more)
        assert reply.status_code == 400
        (info,) = reply.json()["error"]["@Message.ExtendedInfo"]
        assert info["MessageId"].endswith(code)
        assert info["MessageArgs"][-1] in more


def test_it_takes_as_many_as_it_has_room_for() -> None:
    with hearing(habits=BmcBehaviour(subscriptions=2)) as (_, client, ear):
        codes = [client.ask("POST", SUBSCRIPTIONS, asked(ear)).status_code for _ in range(3)]
        assert codes == [201, 201, 400]


@pytest.mark.parametrize(
    ("policy", "state"),
    [("TerminateAfterRetries", None), ("SuspendRetries", "Disabled"), ("RetryForever", "Enabled")],
)
def test_retries_that_are_used_up_end_it_suspend_it_or_go_on(policy: str, state: str | None) -> None:
    """An event that is taken at last is not told twice."""
    with hearing() as (bmc, client, ear):
        ear.status = 401
        uri = client.ask("POST", SUBSCRIPTIONS, asked(ear, DeliveryRetryPolicy=policy)).headers["Location"]
        bmc.tell(FAILED)
        wait(lambda: len(ear.heard) > (5 if state == "Enabled" else 3))
        reply = client.ask("GET", uri)
        if state is None:
            wait(lambda: client.ask("GET", uri).status_code == 404)
            return
        wait(lambda: client.get(uri)["Status"]["State"] == state)
        assert reply.status_code == 200
        ear.status = 204
        if state == "Enabled":
            wait(lambda: bmc.events("event_sent"))
            came = len(ear.heard)
            bmc.tell(FAILED | {"EventId": "9"})
            wait(lambda: len(bmc.events("event_sent")) == 2)
            assert len(ear.heard) == came + 1


@pytest.mark.parametrize("lost", [False, True])
def test_a_restart_keeps_subscriptions_unless_a_rule_says_otherwise(*, lost: bool) -> None:
    rules = [{"when": {"event": "bmc_reset"}, "what": "lose_subscriptions"}] if lost else []
    with hearing(rules=rules) as (bmc, client, ear):
        client.ask("POST", SUBSCRIPTIONS, asked(ear))
        bmc.restart()
        assert client.get(SUBSCRIPTIONS)["Members@odata.count"] == (0 if lost else 1)
        bmc.tell(FAILED)
        assert bmc.subscribed() is not lost
        if not lost:
            wait(lambda: ear.heard)


def test_over_tls_it_checks_the_listeners_certificate_unless_told_otherwise(tmp_path: Path) -> None:
    with listening(certificate(tmp_path, "signals")) as ear, emulator() as bmc, Client(bmc) as client:
        client.ask("POST", SUBSCRIPTIONS, asked(ear))
        bmc.tell(FAILED)
        wait(lambda: len(bmc.events("event_refused")) > 3)
        assert not ear.heard
        client.ask("POST", SUBSCRIPTIONS, asked(ear, VerifyCertificate=False))
        bmc.tell(FAILED)
        wait(lambda: ear.heard)

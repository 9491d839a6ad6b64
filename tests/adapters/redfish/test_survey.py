"""A look reads whatever a BMC is, by GET alone: odd, slow and broken ones within limits, and each failure is told."""

import json
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.adapters.redfish import survey as surveying
from fleet_runner.adapters.redfish.exchange import Limits
from fleet_runner.adapters.redfish.survey import NotRedfishError, root_of, survey
from fleet_runner.adapters.redfish.wire import Connection
from fleet_runner.core.base.errors import BmcError, BmcRefused
from fleet_runner.core.bmc.tree import NEXT, ROOT, Tree
from tests.adapters.redfish.replay import PASSWORD, QUICK, USER, Replay, break_off, replayed

EVIDENCE = Path(__file__).parents[2] / "evidence" / "redfish" / "look.json"
SYSTEM = f"{ROOT}/Systems/1"
INVENTORY = f"{ROOT}/UpdateService/FirmwareInventory"


def captured() -> dict[str, Any]:
    """Return a trimmed tree."""
    found: dict[str, Any] = json.loads(EVIDENCE.read_text("utf-8"))
    return found


def read(server: Replay, *, seconds: float = 60.0, password: str = PASSWORD, limits: Limits = QUICK) -> Tree:
    """Read a replayed BMC."""
    connection = Connection(server.url, (USER, password), verify=True, limits=limits)
    with closing(connection):
        return survey(connection, lambda *_: None, seconds)


@pytest.mark.parametrize("sessions", [True, False])
def test_nothing_is_sent_but_get_and_a_session_that_is_ended(sessions: bool) -> None:
    with replayed(captured()) as server:
        server.sessions = sessions
        tree = read(server)
    others = [(verb, uri.rpartition("/")[0]) for verb, uri, _, _ in server.asked if verb != "GET"]
    sessions_at = f"{ROOT}/SessionService"
    created = ("POST", sessions_at)
    assert others == ([created, ("DELETE", f"{sessions_at}/Sessions")] if sessions else [created])
    asked = [uri for verb, uri, _, _ in server.asked if verb == "GET" and uri.rstrip("/") != ROOT]
    assert len(asked) == len(set(asked))
    assert tree.unread == {}
    assert len(tree.bodies) > 30


def test_the_root_is_asked_for_before_any_password_is_sent() -> None:
    with replayed(captured()) as server:
        read(server)
    assert [(verb, uri) for verb, uri, _, _ in server.asked][:2] == [("GET", f"{ROOT}/"), ("GET", ROOT)]
    assert not {"Authorization", "X-Auth-Token"} & set(server.asked[0][3])


def test_what_fails_is_told_and_the_rest_is_read() -> None:
    with replayed(captured()) as server:
        server.statuses["GET", f"{INVENTORY}/BIOS"] = [500] * 9
        server.statuses["GET", f"{INVENTORY}/BMC"] = [503]
        server.raw[f"{INVENTORY}/GPU1"] = b"<html>"
        server.broken[f"{INVENTORY}/GPU2"] = break_off
        tree = read(server)
    assert set(tree.unread) == {f"{INVENTORY}/{name}" for name in ("BIOS", "GPU1", "GPU2")}
    assert tree.unread[f"{INVENTORY}/BIOS"] == "answered 500: as told[31m"
    assert tree.unread[f"{INVENTORY}/GPU1"].startswith("answered with something that is not Redfish")
    assert f"{INVENTORY}/BMC" in tree.bodies


def test_many_resources_that_are_busy_in_a_row_are_not_each_waited_for() -> None:
    tree_of = captured()
    names = [member["@odata.id"] for member in tree_of[INVENTORY]["Members"]]
    with replayed(tree_of) as server:
        server.statuses = {("GET", uri): [503] * 9 for uri in names}
        tree = read(server)
    tries = [[asked for _, asked, _, _ in server.asked].count(uri) for uri in names]
    assert set(tries[:3]) == {QUICK.retries + 1}
    assert set(tries[3:]) == {1}
    assert set(names) <= set(tree.unread)


def test_a_collection_without_end_is_left_after_so_many_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surveying, "MOST_REQUESTS", 30)
    tree_of = captured()
    tree_of[INVENTORY] = {**tree_of[INVENTORY], "Members": [{"@odata.id": f"{INVENTORY}/{n}"} for n in range(5000)]}
    with replayed(tree_of) as server:
        tree = read(server)
    assert len(server.said("GET")) < 35
    assert "the limit of 30 requests was reached" in tree.unread.values()


def test_a_bmc_that_takes_too_long_in_all_is_left() -> None:
    with replayed(captured()) as server:
        for uri in captured():
            if uri != ROOT:
                server.broken[uri] = _slow
        tree = read(server, seconds=1.0)
    assert len(server.said("GET")) < len(captured()) / 2
    assert "the BMC took more than 1 s in all" in tree.unread.values()
    assert tree.bodies


def _slow(handler: Any) -> None:
    time.sleep(0.3)
    handler._send(200, handler.server.tree[handler.path])


def test_a_bmc_that_falls_silent_is_left_after_a_few_requests() -> None:
    short = Limits(connect_seconds=30, read_seconds=1.0, total_seconds=60, retries=0)
    over = threading.Event()
    with replayed(captured()) as server:
        for uri in captured():
            if uri.startswith((INVENTORY, f"{ROOT}/Chassis/1/")):
                server.broken[uri] = lambda _: over.wait(60)
        tree = read(server, limits=short)
        over.set()
    assert "the BMC gave no answer 3 times in a row" in tree.unread.values()
    assert SYSTEM in tree.bodies


def test_pages_that_lead_in_a_circle_and_links_elsewhere_are_not_followed() -> None:
    tree_of = captured()
    elsewhere = {"@odata.id": "http://192.0.2.1/redfish/v1/x"}
    tree_of[INVENTORY] = {
        **tree_of[INVENTORY],
        "Members": [elsewhere, *tree_of[INVENTORY]["Members"]],
        NEXT: f"{INVENTORY}?page=1",
    }
    tree_of[f"{INVENTORY}?page=1"] = {**tree_of[INVENTORY], NEXT: INVENTORY}
    with replayed(tree_of) as server:
        tree = read(server)
    assert len([uri for _, uri, _, _ in server.asked if uri.startswith(f"{INVENTORY}?")]) == 1
    assert tree.unread == {}


def test_a_refused_password_ends_it_after_one_try() -> None:
    with replayed(captured()) as server, pytest.raises(BmcError, match=r"\(401\).*do not retry"):
        read(server, password="wrong")
    assert len([verb for verb, *_ in server.asked if verb == "POST"]) == 1


def test_what_is_no_redfish_hears_no_password() -> None:
    with replayed({"/": {}}) as server, pytest.raises(NotRedfishError, match="has no Redfish service: /redfish/v1"):
        read(server)
    assert [verb for verb, *_ in server.asked] == ["GET", "GET"]


def test_a_root_that_names_its_collections_alone_is_one() -> None:
    with replayed({ROOT: {"Systems": {}}}) as server:
        connection = Connection(server.url, ("", ""), verify=True, limits=QUICK)
        assert root_of(connection) == {"Systems": {}}


def test_a_port_that_nobody_listens_on_is_said_to_refuse() -> None:
    with replayed({}) as server:
        url = server.url
    connection = Connection(url, ("", ""), verify=True, limits=Limits(retries=0))
    with pytest.raises(BmcRefused, match="refused: nothing listens"):
        root_of(connection)

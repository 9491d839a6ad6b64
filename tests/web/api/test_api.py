"""What the API tells to whom, page by page, and what it refuses."""

import json
from itertools import pairwise

import httpx
import pytest

from fleet_runner.core.access.roles import Role
from fleet_runner.core.faults.signals.tokens import Token
from fleet_runner.core.lifecycle.runs import IntentKind
from fleet_runner.services.http.admission import make
from fleet_runner.web import confirmation
from tests.waiting import PATIENCE, until
from tests.web.hall import HOSTILE, NOW, Hall
from tests.web.served import Served

SEEN = (
    "/status",
    "/nodes",
    "/nodes/gpu-00003",
    "/results",
    "/tickets/1",
    "/runs",
    "/queue",
    "/schedules",
    "/devices",
)


@pytest.fixture(scope="module", autouse=True)
def tireless(site: Served) -> None:
    """A second passes with each request: nobody asks too often."""
    site.site.steady = iter(range(10**9)).__next__


def got(site: Served, path: str, role: Role = Role.OPERATOR, tenant: str = "", **params: str | int) -> httpx.Response:
    """Ask for something as somebody."""
    with site.client(role, tenant) as client:
        return client.get(f"/api/v1{path}", params=params or None)


def walked(site: Served, path: str, **params: str | int) -> list[dict[str, object]]:
    """Return a list, all of its pages together."""
    found: list[dict[str, object]] = []
    while True:
        page = got(site, path, **params).json()
        found += page["items"]
        if page["next"] is None:
            return found
        assert len(page["items"]) == params["limit"]
        params["cursor"] = page["next"]


@pytest.mark.parametrize("path", SEEN)
def test_who_has_no_right_sees_nothing(path: str, site: Served) -> None:
    for role, tenant, expected in ((Role.VIEWER, "", 200), (Role.TECHNICIAN, "", 200), (Role.TENANT, "Acme", 403)):
        answer = got(site, path, role, tenant)
        assert answer.status_code == expected, answer.text
        if expected == 403:
            assert set(answer.json()) == {"detail"}
    answer = httpx.get(f"{site.url}/api/v1{path}", timeout=PATIENCE)
    assert (answer.status_code, answer.headers["content-type"]) == (401, "application/json")
    assert got(site, path, Role.INGEST).status_code in {401, 403}


def test_the_description_is_for_whoever_may_ask_anything(site: Served) -> None:
    for role, tenant in ((Role.VIEWER, ""), (Role.TENANT, "Acme")):
        described = got(site, "/openapi.json", role, tenant).json()
        assert described["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
        operations = [each["operationId"] for path in described["paths"].values() for each in path.values()]
        assert len(operations) == len(set(operations)) > 40
        assert not [path for path in described["paths"] if not path.startswith("/api/v1/")]
    assert httpx.get(f"{site.url}/api/v1/openapi.json", timeout=PATIENCE).status_code == 401


@pytest.mark.parametrize("path", ["/nodes", "/devices", "/racks", "/cables", "/tickets", "/results"])
def test_a_list_comes_in_pages_that_miss_nothing(path: str, site: Served) -> None:
    whole = walked(site, path, limit=500)
    assert walked(site, path, limit=1 if len(whole) < 10 else 7) == whole
    assert len({json.dumps(each) for each in whole}) == len(whole) > 1


def test_nodes_are_narrowed(hall: Hall, site: Served) -> None:
    every = walked(site, "/nodes", limit=100)
    assert [each["name"] for each in every] == list(hall.names)
    assert {each["state"] for each in walked(site, "/nodes", limit=100, state="triage")} == {"triage"}
    held = walked(site, "/nodes", limit=100, condition="held")
    assert held
    assert all("held" in each["conditions"] for each in held)  # type: ignore[operator]  # JSON
    acme = {device.name for device in hall.fleet.devices.values() if device.tenant == "Acme"}
    assert {each["name"] for each in got(site, "/nodes?tenant=Acme").json()["items"]} == acme
    assert len(got(site, "/nodes?rack=R001&site=hall-1").json()["items"]) == 4
    assert got(site, "/nodes?rack=R001&device_type=nonsense").json()["items"] == []


def test_without_the_source_of_truth_what_it_knows_is_not_told(site: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site.site, "fleet", lambda: None)
    for path in ("/devices", "/racks", "/cables", "/budget", "/nodes?tenant=Acme"):
        answer = got(site, path)
        assert (answer.status_code, answer.json()["detail"]) == (503, "the source of truth could not be read yet")
    assert got(site, "/nodes").status_code == 200
    assert got(site, "/mine/nodes", Role.TENANT, "Acme").json()["items"] == []


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/nodes?limit=501", 422), ("/nodes?limit=0", 422), ("/nodes?state=dancing", 422), ("/nodes?cursor=%00", 400),
        ("/nodes/%00", 400), ("/nodes/a%00b", 400), ("/nodes/" + "x" * 101, 422), ("/nodes/%ED%A0%80", 404),
        ("/nodes/..%2Fstatus", 404), ("/results?cursor=x", 422), ("/results?cursor=" + "9" * 40, 422),
        ("/results?node=%00", 400), ("/results?node=%07", 422),
        ("/results?since=nan", 422), ("/results?since=inf", 422), ("/results/0", 422),
        (f"/results/{2**63}", 422), (f"/results/{2**63 - 1}", 404), ("/tickets/-1", 422), ("/evidence/xyz", 422),
        ("/evidence/" + "0" * 64, 404), ("/nowhere", 404), ("/nodes/nobody/history", 404), ("/rollouts/7", 404),
    ],
)  # fmt: skip
def test_bad_input_gets_its_code_and_a_sentence(path: str, expected: int, site: Served) -> None:
    answer = got(site, path)
    assert answer.status_code == expected, answer.text
    if expected != 400:
        assert set(answer.json()) == {"detail"}
        assert isinstance(answer.json()["detail"], str)


def test_what_a_node_said_comes_as_it_is_and_as_json_alone(site: Served) -> None:
    answer = got(site, "/tickets/1")
    assert HOSTILE in answer.json()["ticket"]["title"]
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"


def asked(site: Served, body: object, role: Role = Role.OPERATOR, name: str = "gpu-00002") -> httpx.Response:
    """Leave a request."""
    with site.client(role) as client:
        return client.post(f"/api/v1/nodes/{name}/requests", json=body)


def test_a_request_is_left_in_the_name_of_the_token_and_answered_later(hall: Hall, site: Served) -> None:
    answer = asked(site, {"kind": "hold", "reason": "power work"})
    assert answer.status_code == 202
    found = got(site, f"/requests/{answer.json()['id']}").json()
    assert (found["by"], found["accepted"], found["at"]) == ("operator", None, NOW)
    assert hall.store.intents("gpu-00002")[-1].kind is IntentKind.HOLD
    assert got(site, "/nodes/gpu-00002/requests").json()[-1]["reason"] == "power work"


def test_the_names_that_requests_had_before_go_on_for_one_release(site: Served) -> None:
    with site.client(Role.OPERATOR) as client:
        number = client.post("/api/v1/nodes/gpu-00002/wishes", json={"wish": "hold"}).json()["id"]
    found, now = got(site, f"/intents/{number}").json(), got(site, f"/requests/{number}").json()
    assert now["kind"] == "hold"
    now["wish"] = now.pop("kind")
    assert found == now
    assert got(site, "/nodes/gpu-00002/intents").json()[-1]["wish"] == "hold"
    assert asked(site, {"wish": "hold"}).status_code == 422


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"kind": "dance"}, 422), ({}, 422), ([], 422), ("x", 422), ({"kind": "hold", "detail": "verify"}, 422),
        ({"kind": "run"}, 422), ({"kind": "run", "detail": "dance"}, 422), ({"kind": "hold", "reason": "a\0b"}, 422),
        ({"kind": "hold", "reason": "\x1b[2J"}, 422), ({"kind": "hold", "reason": "x" * 501}, 422),
        ({"kind": "wipe"}, 409), ({"kind": "rma"}, 409), ({"kind": "firmware"}, 409),
    ],
)  # fmt: skip
def test_what_cannot_be_requested_is_not_left(body: object, expected: int, hall: Hall, site: Served) -> None:
    before = hall.store.intents("gpu-00002")
    answer = asked(site, body)
    assert answer.status_code == expected, answer.text
    assert isinstance(answer.json()["detail"], str)
    assert hall.store.intents("gpu-00002") == before


def test_half_a_surrogate_pair_is_no_reason(site: Served) -> None:
    with site.client() as client:
        raw = b'{"request": "hold", "reason": "\\ud800"}'
        answer = client.post(
            "/api/v1/nodes/gpu-00002/requests", content=raw, headers={"content-type": "application/json"}
        )
    assert answer.status_code == 422


def test_each_request_needs_its_right(hall: Hall, site: Served) -> None:
    (retired, *_) = [node.name for node in hall.store.nodes() if node.state == "retired"]
    assert asked(site, {"kind": "hold"}, Role.TECHNICIAN).status_code == 403
    assert asked(site, {"kind": "repaired"}, Role.TECHNICIAN).status_code == 202
    assert asked(site, {"kind": "repaired"}, Role.VIEWER).status_code == 403
    assert asked(site, {"kind": "hold"}, name=retired).status_code == 409
    assert asked(site, {"kind": "hold"}, name="nobody").status_code == 404


def test_what_cannot_be_undone_is_asked_twice_with_the_token_of_the_first_answer(
    hall: Hall, site: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, other = (node.name for node in [n for n in hall.store.nodes() if n.state == "production"][7:9])
    before = hall.store.intents(name)
    first = asked(site, {"kind": "retire", "reason": "sold"}, name=name)
    assert first.status_code == 428
    said = first.json()
    assert "cannot be undone" in said["detail"]
    assert said["lost"][:2] == [
        f"{name} leaves the fleet from production: it takes no more requests.",
        "It serves: it is not drained first, and its scheduler is not informed.",
    ]
    token = said["confirm"]
    body = {"kind": "retire", "reason": "sold", "confirm": token}
    assert asked(site, body, name=other).status_code == 428
    assert (
        asked(site, body | {"confirm": token[:-1] + ("0" if token[-1] != "0" else "1")}, name=name).status_code == 428
    )
    later = "9" + token[1:]
    assert asked(site, body | {"confirm": later}, name=name).status_code == 428
    assert asked(site, body | {"confirm": "now"}, name=name).status_code == 422
    secret, digest = make()
    hall.store.add_token(Token("another", digest, NOW - 60, "tests", scope="operator"))
    with httpx.Client(base_url=site.url, headers={"authorization": f"Bearer {secret}"}, timeout=PATIENCE) as client:
        until(lambda: client.get(f"/api/v1/nodes/{name}").status_code != 401, "a new token is known within 0.1 s")
        assert client.post(f"/api/v1/nodes/{name}/requests", json=body).status_code == 428
    assert hall.store.intents(name) == before
    with monkeypatch.context() as patched:
        patched.setattr(confirmation, "SECONDS", -1.0)
        old = asked(site, {"kind": "retire"}, name=name).json()["confirm"]
    assert asked(site, body | {"confirm": old}, name=name).status_code == 428
    assert hall.store.intents(name) == before
    assert asked(site, body, name=name).status_code == 202
    assert [(each.kind, each.reason) for each in hall.store.intents(name)[len(before) :]] == [("retire", "sold")]


def test_schedules_and_tickets_are_steered_by_who_may(hall: Hall, site: Served) -> None:
    with site.client(Role.TECHNICIAN) as client:
        assert client.post("/api/v1/schedules/cabling/pause", json={"reason": "x"}).status_code == 403
        assert client.post("/api/v1/tickets/2/notes", json={"text": "seen\nby two"}).json()["done"]
    assert hall.store.ticket_changes(2)[-1].sentence == "seen by two"
    with site.client() as client:
        assert client.post("/api/v1/schedules/cabling/pause", json={"reason": " "}).status_code == 422
        assert client.post("/api/v1/schedules/cabling/pause", json={"reason": "power work"}).json()["done"]
        assert client.post("/api/v1/schedules/cabling/run").status_code == 409
        assert client.post("/api/v1/schedules/cabling/resume").json()["done"]
        assert not client.post("/api/v1/schedules/cabling/resume").json()["done"]
        assert client.post("/api/v1/schedules/passive/run").status_code == 202
        assert client.post("/api/v1/schedules/nonsense/run").status_code == 404
        assert client.post("/api/v1/tickets/4711/notes", json={"text": "x"}).status_code == 404


def test_a_tenant_is_told_of_their_own_nodes_and_of_no_other(hall: Hall, site: Served) -> None:
    theirs = {device.name for device in hall.fleet.devices.values() if device.tenant == "Globex"}
    answer = got(site, "/mine/nodes", Role.TENANT, "Acme")
    assert answer.status_code == 200
    told = [each["name"] for each in answer.json()["items"]]
    assert told == sorted(told)
    assert told
    assert not theirs & set(told)
    one = got(site, f"/mine/nodes/{told[0]}", Role.TENANT, "Acme").json()
    assert one["happened"]
    assert all(newer["at"] >= older["at"] for newer, older in pairwise(one["happened"]))
    missing = got(site, "/mine/nodes/nowhere", Role.TENANT, "Acme")
    for name in sorted(theirs)[:3]:
        answer = got(site, f"/mine/nodes/{name}", Role.TENANT, "Acme")
        assert (answer.status_code, answer.text) == (404, missing.text.replace("nowhere", name))
    assert got(site, "/mine/nodes").status_code == 403


def test_who_asked_what_is_for_operators(site: Served) -> None:
    asked(site, {"kind": "hold", "reason": "noted"})
    assert got(site, "/audit", Role.VIEWER).status_code == 403
    assert got(site, "/audit").status_code == 200


def test_what_other_tools_show_of_a_node_is_one_answer(site: Served, hall: Hall) -> None:
    found = got(site, "/nodes/gpu-00003/brief", Role.VIEWER).json()
    assert found["node"]["state"] == "production"
    assert found["why"]
    assert [ticket["title"] for ticket in found["tickets"]] == [f"gpu-00003: GPU 3 fell off the bus {HOSTILE}"]
    assert [link["port"] for link in found["links"]] == [f"ib{rail}" for rail in range(8)]
    assert "hold" in found["wanted"]
    assert "certify" not in found["wanted"]
    assert got(site, "/nodes/gpu-09999/brief").status_code == 404
    assert got(site, "/nodes/gpu-00003/brief", Role.TENANT, "Acme").status_code == 403

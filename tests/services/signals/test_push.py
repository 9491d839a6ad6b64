"""What is pushed over HTTP with a good token becomes alarms; what is not good has no effect, and is counted."""

import base64
import json
import time
from pathlib import Path

import pytest

from fleet_runner.core.faults.signals.signal import Source
from fleet_runner.core.lifecycle.actions import Decision, Move
from fleet_runner.core.lifecycle.states import TRANSITIONS, Event, State
from tests.services.signals.hearing import Ear, entry, fleet_of, listening, xid
from tests.waiting import until

ALERT = {
    "version": "4",
    "alerts": [
        {
            "status": "firing",
            "labels": {"alertname": "GpuHot", "Hostname": "gpu-02", "gpu": "3", "severity": "critical"},
            "annotations": {"summary": "GPU 3 is hot"},
            "startsAt": "2026-01-01T00:00:00Z",
            "fingerprint": "f00",
        }
    ],
}
EVENT = {
    "Events": [
        {
            "MessageId": "SensorEvent.1.0.1.CoolantLow",
            "MessageSeverity": "Critical",
            "Message": "Coolant is low",
            "EventId": "77",
            "OriginOfCondition": {"@odata.id": "/redfish/v1/Chassis/1/Sensors/c1"},
        }
    ]
}


def test_an_xid_is_an_alarm_as_soon_as_it_is_answered(tmp_path: Path) -> None:
    """In the store, with its node woken and its sentence in the history."""
    with listening(tmp_path) as ear:
        answer = ear.push("/log", f"{xid()}\n{entry('gpu-01', 'usb 1-1: new device')}\n")
        assert (answer.status_code, answer.json()) == (200, {"taken": 1, "refused": 0, "said": ""})
        (alarm,) = ear.alarms()
        assert (alarm.code, alarm.count, alarm.source) == ("xid.79", 1, Source.KERNEL)
        assert [each.name for each in ear.store.due(0.0)].count("gpu-01") == 1
        (entry_of_it,) = ear.store.history("gpu-01", kind="alarm")
        assert entry_of_it.sentence.startswith("Alarm xid.79 of ")
        until(lambda: ear.heard("kernel", "taken") == 1)


def test_hosts_are_known_by_their_domain_names_and_addresses(tmp_path: Path) -> None:
    """The same line again is no second signal."""
    with listening(tmp_path) as ear:
        at = time.time()
        for host in ("gpu-01", "GPU-01.hall.example.", "10.0.0.1"):
            assert ear.push("/log", xid(host, at=at)).status_code == 200
        assert [each.count for each in ear.alarms()] == [1]
        until(lambda: ear.heard("kernel", "repeated") == 2)


def test_alertmanager_raises_and_takes_back(tmp_path: Path) -> None:
    """What is resolved stands no more."""
    policy = tmp_path / "policy.yml"
    policy.write_text("rules:\n  - code: alert.*\n    hold: 0s\n", "utf-8")
    with listening(tmp_path, policy_file=policy) as ear:
        assert ear.push("/alertmanager", json.dumps(ALERT)).json()["taken"] == 1
        assert [each.code for each in ear.alarms("gpu-02")] == ["alert.GpuHot"]
        over = json.loads(json.dumps(ALERT).replace("firing", "resolved"))
        assert ear.push("/alertmanager", json.dumps(over)).status_code == 200
        assert ear.alarms("gpu-02") == ()


@pytest.mark.parametrize("shown", ["bearer", "basic", "header", "context"])
def test_a_bmc_shows_its_token_in_the_way_it_can(tmp_path: Path, shown: str) -> None:
    """A token for one node says whose BMC it is."""
    with listening(tmp_path) as ear:
        token = ear.give("bmc", nodes=("gpu-03",), sources=(Source.REDFISH,))
        password = base64.b64encode(f"fleet:{token}".encode()).decode()
        headers = {
            "bearer": {"authorization": f"Bearer {token}"},
            "basic": {"authorization": f"Basic {password}"},
            "header": {"x-auth-token": token},
            "context": {},
        }[shown]
        event = {**EVENT, "Context": token} if shown == "context" else EVENT
        answer = ear.push("/redfish", json.dumps(event), token="", headers=headers)
        assert (answer.status_code, answer.json()["taken"]) == (200, 1), answer.text
        assert [each.code for each in ear.alarms("gpu-03")] == ["redfish.SensorEvent.CoolantLow"]


def test_a_context_that_is_a_token_is_never_taken_for_a_name(tmp_path: Path) -> None:
    """Where nobody says whose BMC it is, nothing of it is kept."""
    with listening(tmp_path) as ear:
        body = json.dumps({**EVENT, "Context": ear.token})
        assert ear.push("/redfish", body, token="").status_code == 400
        assert ear.push("/redfish/gpu-01", body, token="").json()["taken"] == 1
        until(lambda: ear.heard("redfish", "refused: no node named") == 1)
        assert ear.token not in (tmp_path / "fleet.db").read_bytes().decode("latin-1")


@pytest.mark.parametrize("token", ["", "frs_wrong", "x" * 5_000])
def test_a_wrong_token_is_refused_counted_and_has_no_effect(tmp_path: Path, token: str) -> None:
    """Whatever is asked."""
    with listening(tmp_path) as ear:
        for way in ("", "/log", "/alertmanager", "/redfish", "/redfish/gpu-01", "/fabric"):
            answer = ear.push(way, xid(), token=token)
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"]
        assert ear.alarms() == ()
        words = "refused: wrong token" if token.startswith("frs_") else "refused: no token"
        if token in {"", "frs_wrong"}:
            until(lambda: ear.heard("kernel", words) == 1)


def test_a_token_that_expired_or_is_revoked_is_good_for_nothing(tmp_path: Path) -> None:
    """At the latest a second after it is revoked."""
    with listening(tmp_path) as ear:
        old = ear.give("old", until=time.time() - 1)
        assert ear.push("/log", xid(), token=old).status_code == 401
        assert ear.push("/log", xid()).status_code == 200
        ear.store.revoke_token("vector", time.time())
        until(lambda: ear.push("/log", xid(number=48)).status_code == 401)
        until(lambda: ear.heard("kernel", "refused: revoked token") > 0)
        assert ear.heard("kernel", "refused: expired token") == 1


def test_a_token_speaks_for_its_sources_and_of_its_nodes(tmp_path: Path) -> None:
    """What it may not say is left out of what it may."""
    with listening(tmp_path) as ear:
        narrow = ear.give("narrow", sources=(Source.KERNEL,), nodes=("gpu-01", "gpu-02"))
        assert ear.push("/alertmanager", json.dumps(ALERT), token=narrow).status_code == 403
        answer = ear.push("/log", "\n".join((xid("gpu-01"), xid("gpu-03"))), token=narrow)
        assert answer.json() == {"taken": 1, "refused": 1, "said": "token of others: 1"}
        assert ear.alarms("gpu-03") == ()
        bmc = ear.give("bmc", nodes=("gpu-03",))
        until(lambda: ear.push("/redfish/gpu-01", json.dumps(EVENT), token=bmc).status_code == 403)
        until(lambda: ear.heard("kernel", "refused: token of others") == 1)


def test_what_a_node_was_before_it_came_to_its_state_opens_nothing(tmp_path: Path) -> None:
    """The state began a minute ago."""
    with listening(tmp_path) as ear:
        ear.store.register([], 1.0)
        _since(ear, "gpu-01", time.time() - 60)
        assert ear.push("/log", xid(at=time.time() - 120)).json()["taken"] == 0
        assert ear.push("/log", xid(at=time.time() - 30)).json()["taken"] == 1
        until(lambda: ear.heard("kernel", "late") == 1)


def _since(ear: Ear, name: str, at: float) -> None:
    """Have a node come to another state at a moment."""
    node = ear.store.node(name)
    assert node is not None
    ear.store.apply(node, Decision((Move(TRANSITIONS[State.REGISTERED, Event.START], "runner"),), "", at), at)


def test_a_stranger_is_counted_by_name_and_looked_for_again(tmp_path: Path) -> None:
    """A node that comes to the fleet is known within seconds."""
    with listening(tmp_path) as ear:
        assert ear.push("/log", xid("gpu-99")).json() == {"taken": 0, "refused": 1, "said": "no such node: 1"}
        until(lambda: any("gpu-99" in each.detail for each in ear.store.heard()))
        ear.store.register([*fleet_of("gpu-99").devices.values()], 1.0)
        until(lambda: ear.push("/log", xid("gpu-99")).json()["taken"] == 1)

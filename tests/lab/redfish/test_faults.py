"""Faults by rule: each does what its sentence says, when its rule says, and the same again with the same seed."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.lab.redfish import FAULTS, BmcBehaviour, Durations, Emulator, RulesError
from fleet_runner.lab.redfish.rules import Rules, checked, load
from tests.examples import examples
from tests.lab.redfish.talking import Client, emulator, over, wait

INVENTORY = "/redfish/v1/UpdateService/FirmwareInventory"


@contextmanager
def faulty(what: Any, **when: Any) -> Iterator[tuple[Emulator, Client]]:
    """A BMC with one fault, and somebody who talks with it."""
    rules = [{"when": when, "what": what}]
    with emulator(rules=rules, habits=BmcBehaviour(keeps_tasks=True)) as bmc, Client(bmc) as client:
        yield bmc, client


def test_an_update_fails_on_the_way(tmp_path: Path) -> None:
    with faulty({"fail": {"at": 40, "message": "no power"}}, component="BIOS") as (bmc, client):
        task = client.update(tmp_path, {"BIOS": "2.1"}).json()["@odata.id"]
        assert over(bmc) == "failed"
        body = client.get(task)
        assert (body["TaskState"], body["TaskStatus"]) == ("Exception", "Critical")
        assert 39 <= body["PercentComplete"] <= 40
        assert "no power" in body["Messages"][0]["Message"]
        assert (bmc.pending(), bmc.versions()["BIOS"]) == ({}, "2.0")
        client.update(tmp_path, {"PSU_0": "2"})
        assert over(bmc) == "done"  # the rule speaks of the BIOS alone


def test_a_task_is_lost_while_its_update_goes_on(tmp_path: Path) -> None:
    with faulty("lose_task") as (bmc, client):
        reply = client.update(tmp_path, {"PSU_0": "2"})
        wait(lambda: bmc.events("update_begun"))
        for uri in (reply.json()["@odata.id"], reply.headers["Location"]):
            assert client.ask("GET", uri).status_code == 404
        assert over(bmc) == "done"
        assert bmc.versions()["PSU_0"] == "2"


@pytest.mark.parametrize(("what", "runs"), [("lie", "1.3"), ({"wrong_version": {"version": "0.9"}}, "0.9")])
def test_a_completed_task_is_no_success(tmp_path: Path, what: Any, runs: str) -> None:
    with faulty(what) as (bmc, client):
        task = client.update(tmp_path, {"PSU_0": "2"}).json()["@odata.id"]
        assert over(bmc) == "done"
        assert client.get(task)["TaskState"] == "Completed"
        assert bmc.versions()["PSU_0"] == runs
        assert bmc.updates()[0].versions == {"PSU_0": "2"}


def test_an_update_can_be_slow_or_stuck(tmp_path: Path) -> None:
    with faulty({"slow": {"times": 4}}) as (bmc, client):
        client.update(tmp_path, {"PSU_0": "2"})
        assert over(bmc) == "done"
        begun, done = bmc.events("update_begun", "update_done")
        assert done.at - begun.at >= 4 * Durations.quick().write
    with faulty({"stuck": {"at": 30}}) as (bmc, client):
        task = client.update(tmp_path, {"PSU_0": "2"}).json()["@odata.id"]
        wait(lambda: client.get(task)["PercentComplete"] == 30)
        time.sleep(3 * Durations.quick().write)
        assert client.get(task)["TaskState"] == "Running"


@pytest.mark.parametrize("survives", [False, True])
def test_the_bmc_restarts_on_the_way(tmp_path: Path, *, survives: bool) -> None:
    with faulty({"restart": {"at": 50, "survives": survives}}) as (bmc, client):
        client.update(tmp_path, {"PSU_0": "2"})
        assert over(bmc) == ("done" if survives else "failed")
        assert [event["why"] for event in bmc.events("bmc_reset")] == ["fault"]


@pytest.mark.parametrize(
    ("what", "accepted"), [("drop_before_body", 0), ("drop_unaccepted", 0), ("drop_after_body", 1)]
)
def test_the_connection_is_dropped_and_only_the_bmc_knows_what_came_of_it(
    tmp_path: Path, what: str, accepted: int
) -> None:
    with faulty(what, nth=1) as (bmc, client):
        with pytest.raises(requests.ConnectionError):
            client.update(tmp_path, {"PSU_0": "2"})
        assert len(bmc.events("accepted")) == accepted
        assert len(bmc.events("upload_done")) == (what != "drop_before_body")
        if accepted:
            assert over(bmc) == "done"
        assert client.update(tmp_path, {"PSU_0": "3"}).status_code == 202


def test_an_update_is_refused_with_a_message_or_for_want_of_force(tmp_path: Path) -> None:
    with faulty({"refuse": {"status": 403, "message": "not today"}}, event="accept") as (bmc, client):
        reply = client.update(tmp_path, {"PSU_0": "2"})
        assert (reply.status_code, reply.json()["error"]["message"]) == (403, "not today")
        assert [event["message"] for event in bmc.events("refused")] == ["not today"]
    with faulty({"needs_force": {"to": "1.*"}}) as (_, client):
        assert client.update(tmp_path, {"PSU_0": "1.1"}).status_code == 400
        assert client.update(tmp_path, {"PSU_0": "1.1"}, ForceUpdate=True).status_code == 202


def test_requests_are_answered_with_errors_for_a_while() -> None:
    with faulty({"answer": {"status": 503}}, uri=f"{INVENTORY}*", nth=[2, 3]) as (_, client):
        assert [client.ask("GET", INVENTORY).status_code for _ in range(5)] == [200, 503, 503, 200, 200]
        assert client.ask("GET", "/redfish/v1/Systems").status_code == 200


def test_a_request_is_dropped_or_delayed() -> None:
    with faulty("drop", nth=2) as (_, client):
        assert client.ask("GET", INVENTORY).ok
        with pytest.raises(requests.ConnectionError):
            client.ask("GET", INVENTORY)
        assert client.ask("GET", INVENTORY).ok
    with faulty({"delay": {"seconds": 0.1}}) as (_, client):
        began = time.monotonic()
        client.ask("GET", INVENTORY)
        assert time.monotonic() - began >= 0.1


def test_sessions_are_lost_and_a_right_password_is_refused_once() -> None:
    with faulty("lose_session", uri=INVENTORY, nth=2) as (_, client):
        client.log_in()
        assert [client.ask("GET", INVENTORY).status_code for _ in range(3)] == [200, 401, 401]
        assert client.log_in().status_code == 201
    with faulty("refuse_login", nth=1) as (bmc, client):
        assert [client.log_in().status_code for _ in range(2)] == [401, 201]
        assert [event["why"] for event in bmc.events("login_refused")] == ["rule"]


def test_the_inventory_is_empty_or_stale_after_a_reset(tmp_path: Path) -> None:
    with faulty({"empty_inventory": {"reads": 2}}, event="host_reset") as (bmc, client):
        client.power("ForceRestart")
        wait(lambda: bmc.events("host_reset"))
        counts = [len(client.get(INVENTORY)["Members"]) for _ in range(3)]
        assert counts == [0, 0, len(bmc.tree.entries)]
    with faulty({"stale_inventory": {"reads": 2}}, event="update") as (bmc, client):
        client.update(tmp_path, {"PSU_0": "2"})
        over(bmc)
        seen = []
        for _ in range(3):
            seen.append(client.get(f"{INVENTORY}/PSU_0")["Version"])
            client.get(INVENTORY)
        assert seen == ["1.3", "1.3", "2"]


def test_a_reset_does_not_make_it_run_at_once_or_ever(tmp_path: Path) -> None:
    for what, runs in (("keep_pending", "2.1"), ("discard_pending", "2.0")):
        with faulty(what, nth=1) as (bmc, client):
            client.update(tmp_path, {"BIOS": "2.1"})
            over(bmc)
            for number in (1, 2):
                client.power("ForceRestart")
                wait(lambda number=number, bmc=bmc: len(bmc.events("host_reset")) == number and bmc.power == "On")
                assert number == 2 or bmc.versions()["BIOS"] == "2.0"
            assert bmc.versions()["BIOS"] == runs


@given(
    st.integers(0, 5),
    st.floats(0.1, 0.9),
    st.lists(st.sampled_from(["BIOS", "BMC", "PSU_0"]), min_size=1, max_size=60),
)
def test_chance_follows_the_seed_alone(seed: int, share: float, components: list[str]) -> None:
    rules = [
        {"when": {"share": share, "times": 3}, "what": "lie"},
        {"when": {"component": "B*", "nth": [1, 3]}, "what": "fail"},
    ]

    def fired() -> list[dict[str, Any]]:
        made = Rules(rules, seed)
        return [made.fire("update", components=[each]) for each in components]

    found = fired()
    assert found == fired()
    assert sum("lie" in each for each in found) <= 3
    matching = [faults for faults, each in zip(found, components, strict=True) if each != "PSU_0"]
    assert [at for at, faults in enumerate(matching, 1) if "fail" in faults] == [1, 3][: (len(matching) + 1) // 2]


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("fail", "expected"),
        ({"when": {}}, "expected"),
        ({"what": "explode"}, "there is no fault 'explode'"),
        ({"what": {"fail": {}, "lie": {}}}, "one fault"),
        ({"what": {"fail": {"to": 3}}}, "it knows at, message, not 'to'"),
        ({"what": {"fail": {"at": "soon"}}}, "at is 'soon', expected a number"),
        ({"what": {"restart": {"survives": 1}}}, "expected true or false"),
        ({"what": {"fail": 40}}, "its options are an object"),
        ({"when": {"event": "login"}, "what": "fail"}, "goes with update"),
        ({"when": {"nht": 1}, "what": "fail"}, "not 'nht'"),
        ({"when": {"nth": 0}, "what": "fail"}, "counts from 1"),
        ({"when": {"share": 7}, "what": "fail"}, "expected 0 to 1"),
        ({"when": {"component": 3}, "what": "fail"}, "expected a text"),
        ({"when": ["x"], "what": "fail"}, "`when` is an object"),
    ],
)
def test_a_rule_that_cannot_be_followed_is_named(rule: Any, words: str) -> None:
    with pytest.raises(RulesError, match=words) as caught:
        checked([{"what": "lie"}, rule])
    assert str(caught.value).startswith("rule 2")


def test_rules_are_no_single_rule() -> None:
    with pytest.raises(RulesError, match="list"):
        checked({"what": "lie"})


def test_rules_are_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "rules.yml"
    path.write_text(yaml.safe_dump({"rules": [{"when": {"nth": 2}, "what": {"fail": {"at": 10}}}]}))
    (rule,) = load(path)
    assert (rule.fault, rule.nth, rule.options["at"]) == ("fail", frozenset({2}), 10)
    path.write_text("rules: [")
    with pytest.raises(RulesError, match="cannot be read"):
        load(path)


@settings(max_examples=examples(30))
@given(st.sampled_from(sorted(FAULTS)), st.integers(0, 3))
def test_every_fault_can_be_asked_for_by_its_name_alone(name: str, at: int) -> None:
    events = FAULTS[name].events
    (rule,) = checked([{"when": {"event": events[at % len(events)]}, "what": name}])
    assert rule.options == FAULTS[name].options

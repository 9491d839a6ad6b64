"""What stands, what was tried and what comes next, as people read it."""

import json
import time

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.cli.faults.remedies import alarmed
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.rules.rules import DEFAULT
from fleet_runner.core.inventory.records import Device
from fleet_runner.core.lifecycle.actions import BeginAttempt, Decision, EndAttempt
from fleet_runner.core.lifecycle.runs import Node
from fleet_runner.reconcile.faults.remedies import remedies, told
from fleet_runner.settings import load
from tests.cli.conftest import Type
from tests.making import NOW, a_node, an_alarm


def stocked(url: str) -> tuple[Store, Node]:
    """A store with one node for which a GPU's reset was tried, and is needed again."""
    store = Store.create(url)
    now = time.time()
    store.register([Device("gpu-01", "t", "gpu-server", "hall")], now - 7200)

    def node() -> Node:
        row = store.node("gpu-01")
        assert row is not None
        return row

    begin = BeginAttempt(Remedy.RESET, (an_alarm().fault,), "runner")
    store.apply(node(), Decision((begin,), "", now + 999), now - 3600)
    end = EndAttempt(1, helped=False, because="the fault is back.")
    store.apply(node(), Decision((end,), "", now + 999), now - 3000)
    alarm = an_alarm(id=0, first_at=now - 60, last_at=now - 30, heard_at=now - 30, raised_at=now - 60)
    store.keep_alarms(["gpu-01"], lambda _: [alarm], now - 30)
    return store, node()


@pytest.fixture
def typing(typed: Type, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Type:
    """Commands over that store."""
    url = f"sqlite:///{tmp_path_factory.mktemp('store') / 'fleet.db'}"
    monkeypatch.setenv("FLEET_DATABASE_URL", url)
    stocked(url)[0].close()
    return typed


def test_explain_says_what_stands_what_was_tried_and_what_is_needed(typing: Type) -> None:
    """With the rule, and the ladder's own sentence."""
    said = " ".join(typing("explain", "gpu-01").out.split())
    assert "alarm xid.119 of GPU 3: GPU 3: Xid 119. (1 time, last 3" in said
    assert "reported by kernel) → RESET; built in, from NVIDIA's Xid catalogue" in said
    assert "by runner, did not help: the fault is back." in said
    assert "needed: REBOOT: GPU 3: Xid 119. RESET at " in said
    assert "REBOOT comes next." in said
    assert json.loads(typing("explain", "gpu-01", "--json").out)["remedies"][-1].startswith("needed: REBOOT")


def test_status_and_node_name_what_stands(typing: Type) -> None:
    assert "alarm xid.119 of GPU 3" in " ".join(typing("status").out.split())
    assert [each["code"] for each in json.loads(typing("status", "--json").out)["alarms"]] == ["xid.119"]
    assert "alarm xid.119 of GPU 3: GPU 3: Xid 119." in " ".join(typing("node", "gpu-01").out.split())
    whole = json.loads(typing("node", "gpu-01", "--json").out)
    assert (len(whole["alarms"]), whole["attempts"][0]["remedy"]) == (1, "RESET")


def test_a_policy_that_cannot_be_used_hides_no_node(typing: Type, monkeypatch: pytest.MonkeyPatch) -> None:
    """The built-in rules stand in for it."""
    monkeypatch.setenv("FLEET_POLICY_FILE", "missing.yml")
    assert "needed: REBOOT" in typing("explain", "gpu-01").out


def test_many_alarms_are_counted() -> None:
    """One that asks for nothing is named, too."""
    several = [an_alarm(component=part) for part in ("", "b", "c")]
    assert alarmed(a_node(waiting="waits"), several).waiting == "waits; alarms xid.119, xid.119 of b and 1 more"
    assert alarmed(a_node(waiting="waits"), []).waiting == "waits"


def test_what_does_not_count_yet_says_what_is_missing() -> None:
    """And what a signal proposes that no rule speaks of."""
    once = an_alarm(code="xid.31", raised_at=None)
    assert told(once, DEFAULT, a_node(), NOW).endswith("→ does not count yet: 2 are needed")
    own = an_alarm(code="rattle.door", remedy=Remedy.WATCH, count=3)
    assert told(own, DEFAULT, a_node(), NOW).endswith(
        "(3 times, last 10 s ago, reported by kernel) → WATCH; as its signal proposes"
    )
    fallen = an_alarm(code="xid.79")
    assert "→ POWER_CYCLE at once; built in" in told(fallen, DEFAULT, a_node(), NOW)


def test_attempts_say_how_they_ended(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Or that they go on."""
    store, node = stocked(f"sqlite:///{tmp_path_factory.mktemp('store') / 'fleet.db'}")
    with store:
        for helped, words in ((True, "helped"), (None, "result unknown: sold")):
            store.apply(node, Decision((EndAttempt(1, helped, "sold"),), "", 1e12), time.time())
            again = store.node("gpu-01")
            assert again is not None
            node = again
            assert any(line.endswith(f"by runner, {words}") for line in remedies(load(), store, node))
        store.apply(node, Decision((BeginAttempt(Remedy.REBOOT, (), "ann"),), "", 1e12), time.time())
        assert any(line.endswith("by ann, goes on") for line in remedies(load(), store, node))

"""fleet-runner explain on a fabric: the last sweep, what follows from each fault, and what comes next."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet_runner.adapters import sitefiles
from fleet_runner.adapters.store import Store
from fleet_runner.core.cabling.fabrics import fabrics
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.inventory.records import nodes
from fleet_runner.core.lifecycle.actions import Action, Decision, Move, OpenRun, OpenTicket, SetCondition
from fleet_runner.core.lifecycle.runs import Held, Outcome
from fleet_runner.core.lifecycle.spool import Ended, Judged, PlayEnd
from fleet_runner.core.lifecycle.states import TRANSITIONS, Condition, Event, Stage, State
from fleet_runner.settings import load
from tests.cli.conftest import Type

FABRIC = "infiniband.hall-1.leaf-1"
EARNED = (
    (State.REGISTERED, Event.START),
    (State.PROVISION, Event.PASSED),
    (State.ONBOARD, Event.CERTIFIED),
    (State.VERIFY, Event.PASSED),
    (State.FIRMWARE, Event.PASSED),
    (State.BURN_IN, Event.PASSED),
)


def fault(key: str, node: str = "gpu-01") -> Finding:
    """A fault of a cable between a node and a leaf."""
    message = f"{key} is not as designed."
    return Finding("cabling.missing", "ib0", message, Remedy.RECABLE, f"cabling/{key}", (node,), (), (node, "leaf-1"))


@pytest.fixture
def store(typed: Type, project: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """The example's fabric; gpu-01 is in service, gpu-02 is not."""
    del typed  # it sets the folder
    site = project / "docs" / "examples" / "site"
    monkeypatch.setenv("FLEET_SOURCE", str(site))
    fleet = sitefiles.load(site)
    with Store.create(load().store_url) as made:
        made.register([*nodes(fleet), *(fabric.record for fabric in fabrics(fleet))], time.time() - 7200)
        for state, event in EARNED:
            follows(made, "gpu-01", Move(TRANSITIONS[state, event], "runner"))
        yield made


def follows(store: Store, name: str, *actions: Action) -> tuple[object, ...]:
    """Carry a decision out."""
    node = store.node(name)
    assert node is not None
    return store.apply(node, Decision(actions, "", time.time() + 999), time.time() - 3600)


def swept(store: Store, *findings: Finding, ports: Result | None = None) -> None:
    """A sweep through gpu-01 that ended half an hour ago; it may have asked switches for their ports."""
    at, name = time.time() - 1800, FABRIC
    node = store.node(name)
    assert node is not None
    (run,) = store.apply(node, Decision((OpenRun(Stage.FABRIC, "why", batch=f"b{at}"),), "", 0.0), at)
    observed = {"designed": 4, "matched": 4 - len(findings), "observer": ["gpu-01", "ib0"], "unsure": []}
    verdict = Verdict.FAIL if findings else Verdict.PASS
    result = Result("fabric_cabling", verdict, "as seen", findings, observed)
    told = [Judged(name, at, each) for each in (result, ports) if each is not None]
    store.ingest(f"b{at}", 0, 9, [*told, Ended(name, at, PlayEnd.OK)])
    store.close_run(run, Outcome.FAILED if findings else Outcome.PASSED, "", at)


def test_a_fabric_that_was_not_swept_says_when_it_will_be(store: Store, typed: Type) -> None:
    """And how to look at it now."""
    assert store.runs(FABRIC) == ()
    said = typed("explain", FABRIC)
    assert (said.code, said.err) == (0, "")
    assert f"{FABRIC} is watched for 2 h: 1 switch and 2 nodes of hall-1." in said.words
    assert "Last sweep: it was not swept yet Next sweep: due now (first sweep of the fabric)" in said.words
    assert f"fleet-runner run fabric --node {FABRIC}" in said.words


def test_each_fault_says_what_follows_from_it(store: Store, typed: Type) -> None:
    """Its ticket, what it waits for, or whom it excuses; then why the next sweep is when it is."""
    swept(store, fault("old"))
    follows(store, FABRIC, OpenTicket("cabling/old", "fabric_cabling", "old is wrong", "", (FABRIC,), "RECABLE"))
    follows(store, FABRIC, OpenTicket("cabling/else", "fabric_cabling", "else is wrong", "", (FABRIC,), "RECABLE"))
    swept(store, fault("old"), fault("new"), fault("away", "gpu-02"))
    said = typed("explain", FABRIC)
    assert all(len(line) <= 80 for line in said.out.splitlines())
    assert "Last sweep: run 2, " in said.words
    assert ", through gpu-01 ib0: FAIL, 1 of 4 links as designed, 3 faults, 1 unconfirmed" in said.words
    assert "cabling.missing: old is not as designed. ticket #1" in said.words
    assert "new is not as designed. seen once: a second sweep must see it before a ticket opens" in said.words
    assert "away is not as designed. excused: gpu-02 is in registered" in said.words
    assert "Ticket #2 is open, too: else is wrong" in said.words
    assert "Next sweep: due now (1 fault(s) were seen once; are they still there?)" in said.words
    assert f"fleet-runner cabling explain --fabric {FABRIC}" in said.words
    told = json.loads(typed("explain", FABRIC, "--json").out)
    assert [each["ticket"] for each in told["faults"]] == [1, None, None]
    assert (told["sweep"]["id"], told["next"]["because"][:7]) == (2, "1 fault")


def test_what_else_the_last_sweep_said_stands_below_it(store: Store, typed: Type) -> None:
    """RoCE at the switches' ports, also where it is unknown; `node` tells it, too."""
    swept(store, ports=Result("fabric_roce", Verdict.UNKNOWN, "leaf-2 was not read: refused", (), {}))
    said = typed("explain", FABRIC)
    assert "4 of 4 links as designed fabric_roce: UNKNOWN, leaf-2 was not read: refused Next sweep:" in said.words
    (beside,) = json.loads(typed("explain", FABRIC, "--json").out)["beside"]
    assert (beside["check"], beside["verdict"]) == ("fabric_roce", "UNKNOWN")
    assert "leaf-2 was not read: refused" in typed("node", FABRIC).words
    swept(store)
    assert "fabric_roce" not in typed("explain", FABRIC).words


def test_a_held_fabric_says_by_whom_instead_of_when(store: Store, typed: Type) -> None:
    """Faults that would have a ticket say why they have none."""
    for _ in range(2):
        swept(store, fault("new"))
    assert "its ticket opens at the next tick" in typed("explain", FABRIC).words
    follows(store, FABRIC, SetCondition(Condition.HELD, Held(1.0, "works", "ann")))
    said = typed("explain", FABRIC)
    assert "no ticket: held by ann: works" in said.words
    assert "Next sweep: none automatically; held by ann: works" in said.words


def test_a_sweep_under_way_is_the_next_one(store: Store, typed: Type) -> None:
    """With the reason that it was started for; without faults the schedule says when."""
    swept(store)
    assert "4 of 4 links as designed" in typed("explain", FABRIC).words
    assert "(scheduled sweep)" in typed("explain", FABRIC).words
    follows(store, FABRIC, OpenRun(Stage.FABRIC, "ann asked for it", batch="c"))
    assert "Next sweep: run 2 is under way (ann asked for it)" in typed("explain", FABRIC).words


def test_without_the_source_of_truth_it_says_what_it_does_not_know(
    store: Store, typed: Type, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store alone still tells the last sweep."""
    swept(store, fault("new"))
    monkeypatch.setenv("FLEET_SOURCE", "/nowhere")
    said = typed("explain", FABRIC)
    assert said.code == 0
    assert "what the source of truth excuses is not known here" in " ".join(said.err.split())
    assert "new is not as designed. seen once" in said.words
    assert "only while the source of truth knows the fabric" in said.words

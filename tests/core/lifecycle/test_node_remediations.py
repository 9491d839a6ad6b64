"""What a NodeRemediation asks for, and what it is told."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.access.api import NodeRequest
from fleet_runner.core.lifecycle.node_remediations import (
    MACHINE,
    MACHINE_NAMESPACE,
    NODE_NAME,
    TIMED_OUT,
    WAITING,
    Asked,
    Known,
    Progress,
    belongs,
    node_of,
    progress,
    read,
    refused,
    says,
    status,
    waits,
)
from fleet_runner.core.lifecycle.runs import Entry, IntentKind, Node
from fleet_runner.core.lifecycle.states import Condition, State
from tests.making import NOW, a_node, a_ticket, held

UID = "1a2b3c4d-0000-0000-0000-000000000000"
BY = "NodeRemediation fleet/gpu-01 (1a2b3c4d)"
OWNER = {"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine", "name": "m-1"}
CHECK = {"apiVersion": "remediation.medik8s.io/v1alpha1", "kind": "NodeHealthCheck", "name": "gpus"}


def raw(spec: Any = None, said: Any = None, **meta: Any) -> dict[str, Any]:
    """An object as the API server gives it."""
    head = {"name": "gpu-01", "uid": UID, "generation": 1, "creationTimestamp": "2026-11-30T00:00:00Z"}
    return {"metadata": head | meta, "spec": {"remedy": "Reboot"} if spec is None else spec, "status": said}


def asked(spec: Any = None, said: Any = None, **meta: Any) -> Asked:
    """The same, read."""
    found = read(raw(spec, said, **meta), "fleet")
    assert found is not None
    return found


def known(
    node: Node, *moves: State, kind: IntentKind = IntentKind.REBOOT, accepted: bool | None = True, **values: Any
) -> Known:
    """A request, and where the node went since."""
    entries = [
        Entry(at, "gpu-01", NOW + at, "transition", "moved.", "runner", to=to) for at, to in enumerate(moves, 1)
    ]
    request = NodeRequest(9, "gpu-01", kind, BY, NOW, accepted=accepted, answer="REBOOT is pending.")
    return Known(request, node, entries, **values)


def test_the_node_is_named_by_the_spec_the_annotation_the_machine_or_the_name() -> None:
    """In this order: NodeHealthCheck may give a name of its own, and Cluster API gives the Machine's."""
    owners = [CHECK, OWNER]
    every = asked({"remedy": "Reset", "nodeName": "a"}, annotations={NODE_NAME: "b"}, ownerReferences=owners)
    assert (every.node, every.machine, every.by) == ("a", None, BY)
    assert asked(annotations={NODE_NAME: "b"}, ownerReferences=owners).node == "b"
    machine = asked(ownerReferences=owners)
    assert (machine.node, machine.machine, machine.reason) == ("", ("m-1", "v1beta2"), "NodeHealthCheck gpus")
    assert asked(ownerReferences=[CHECK]).node == "gpu-01"
    assert asked().reason == ""
    assert asked({"remedy": "Reset", "reason": " it\n hangs\x1b[31m "}).reason.startswith("it hangs")


@pytest.mark.parametrize(
    "owner",
    [
        OWNER | {"apiVersion": "machine.openshift.io/v1beta1"},
        OWNER | {"apiVersion": "cluster.x-k8s.io/../../secrets"},
        OWNER | {"name": "../x"},
    ],
)
def test_a_machine_that_cannot_be_read_names_no_node(owner: Any) -> None:
    """The request has the Machine's name, which may be that of another cluster's node."""
    found = asked(ownerReferences=[owner])
    assert (found.node, found.wrong) == (
        "",
        "The Machine that owns it is not one of Cluster API's: name the node in spec.nodeName.",
    )
    assert asked(ownerReferences=[owner], annotations={NODE_NAME: "b"}).node == "b"


@pytest.mark.parametrize("owner", [OWNER | {"kind": "MachineSet"}, 7])
def test_an_owner_that_is_no_machine_says_nothing(owner: Any) -> None:
    assert asked(ownerReferences=[owner]).node == "gpu-01"


@pytest.mark.parametrize(
    ("spec", "wrong"),
    [
        ({}, "spec.remedy: '', expected Reset, Reboot, Replace."),
        ({"remedy": "Wipe"}, "spec.remedy: 'Wipe', expected Reset, Reboot, Replace."),
        ({"remedy": ["Reboot"]}, "spec.remedy: '['Reboot']', expected Reset, Reboot, Replace."),
        ({"remedy": "Reboot", "nodeName": "../x"}, "'../x' is no name of a node."),
        ({"remedy": "Reboot", "nodeName": ["x"]}, "'['x']' is no name of a node."),
        ({"remedy": "Reboot", "nodeName": "GPU"}, "'GPU' is no name of a node."),
        (7, "spec.remedy: '', expected Reset, Reboot, Replace."),
    ],
)
def test_a_spec_that_cannot_be_meant_is_told_so(spec: Any, wrong: str) -> None:
    """And names no node."""
    found = asked(spec)
    assert (found.wrong, found.node) == (wrong, "")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda each: st.lists(each) | st.dictionaries(st.text(), each),
        max_leaves=8,
    )
)
def test_whatever_the_api_server_says_is_read_or_left(value: Any) -> None:
    """In each place where something could be, and as a whole."""
    for place in ("name", "uid", "generation", "creationTimestamp", "annotations", "ownerReferences"):
        found = read(raw(**{place: value}), "fleet")
        assert found is None or len(found.reason) <= 500
    found = read(raw(value, value), "fleet")
    assert found is not None
    assert not found.is_told
    assert read({"metadata": value, "spec": value}, "fleet") is None or isinstance(value, dict)
    assert isinstance(node_of({"status": value}), str)
    assert not belongs(asked(ownerReferences=[OWNER]), {"metadata": value})


@pytest.mark.parametrize("meta", [{"name": 7}, {"name": "../x"}, {"uid": ""}, {"uid": None}])
def test_an_object_without_name_or_number_is_none(meta: Any) -> None:
    assert read(raw(**meta), "fleet") is None


def test_it_is_over_when_it_is_deleted_or_its_asker_waits_no_more() -> None:
    assert not asked().over
    assert asked(deletionTimestamp="2026-11-30T00:00:00Z").over
    assert asked(annotations={TIMED_OUT: "2026-11-30T00:00:00Z"}).over


def test_a_node_is_the_machine_only_where_it_says_so() -> None:
    """Two clusters of one management cluster may have nodes of one name."""
    machine = asked(ownerReferences=[OWNER])
    mine = {"metadata": {"annotations": {MACHINE: "m-1", MACHINE_NAMESPACE: "fleet"}}}
    assert belongs(machine, mine)
    assert not belongs(machine, {"metadata": {"annotations": {MACHINE: "m-1", MACHINE_NAMESPACE: "other"}}})
    assert belongs(asked(), {})
    assert node_of({"status": {"nodeRef": {"name": "gpu-01"}}}) == "gpu-01"
    assert (node_of({}), node_of({"status": {"nodeRef": {"name": "../x"}}})) == ("", "")


PENDING = a_node(conditions={Condition.PENDING: held(by=BY, detail="REBOOT")})
THEIRS = a_node(conditions={Condition.PENDING: held(by="runner", detail="POWER_CYCLE")})


@pytest.mark.parametrize(
    ("there", "is_told"),
    [
        (known(a_node(), accepted=None), "Unknown False Unknown Waiting"),
        (known(a_node(), accepted=False), "False False False Refused"),
        (known(PENDING), "True True Unknown Pending"),
        (known(THEIRS), "True True Unknown Superseded"),
        (known(a_node()), "True False False Cancelled"),
        (known(a_node(State.REBOOT), State.REBOOT), "True True Unknown Reboot"),
        (known(a_node(), State.REBOOT, State.PRODUCTION), "True False True InProduction"),
        (known(a_node(State.TRIAGE), State.REBOOT, State.TRIAGE), "True False False Triage"),
        (known(a_node(), State.REBOOT, State.TRIAGE, State.ONBOARD, State.PRODUCTION), "True False False Triage"),
        (known(a_node(State.TRIAGE), State.TRIAGE), "True False False Triage"),
        (known(a_node(State.FIRMWARE), State.FIRMWARE), "True True Unknown Firmware"),
        (known(a_node(), State.FIRMWARE, kind=IntentKind.TRIAGE), "True False False Cancelled"),
        (known(a_node(), State.RESET, kind=IntentKind.REBOOT), "True False False Cancelled"),
        (known(a_node(), State.REBOOT, State.PRODUCTION, kind=IntentKind.RESET), "True False True InProduction"),
        (known(a_node(State.RMA), State.TRIAGE, State.RMA, kind=IntentKind.TRIAGE), "True True Unknown Rma"),
        (
            known(a_node(State.RETIRED), State.TRIAGE, State.RETIRED, kind=IntentKind.TRIAGE),
            "True False False Retired",
        ),
        (known(a_node(), State.TRIAGE, State.PRODUCTION, kind=IntentKind.TRIAGE), "True False True InProduction"),
    ],
)
def test_how_far_it_has_come(there: Known, is_told: str) -> None:
    """A reset or a reboot ends where a person has to look; a replacement ends in production, or for good."""
    found = progress(asked(), there)
    assert " ".join(found[:4]) == is_told
    assert found.message.endswith((".", "of its work", "works on it", "runs on it")), found.message


def test_the_status_has_the_answer_the_node_the_request_and_the_tickets() -> None:
    """A condition that stays keeps the time of its change."""
    mine, there = asked(), known(PENDING, tickets=(a_ticket(id=12), a_ticket(id=4)))
    found = status(mine, progress(mine, there), there, "then")
    assert {key: found[key] for key in ("observedGeneration", "node", "request", "tickets")} == {
        "observedGeneration": 1, "node": "gpu-01", "request": 9, "tickets": [4, 12],
    }  # fmt: skip
    assert found["conditions"][0] == {
        "type": "Accepted", "status": "True", "reason": "Accepted", "message": "REBOOT is pending.",
        "observedGeneration": 1, "lastTransitionTime": "then",
    }  # fmt: skip
    assert [each["reason"] for each in found["conditions"]] == ["Accepted", "Pending", "Pending"]
    told = replace(mine, status=found)
    assert says(told, status(told, progress(told, there), there, "later"))
    assert (told.is_told, told.was_left, mine.was_left) == (False, True, False)
    over = known(a_node(), State.REBOOT, State.PRODUCTION)
    done = status(told, progress(told, over), over, "later")
    assert [each["lastTransitionTime"] for each in done["conditions"]] == ["then", "later", "later"]
    assert not says(told, done)
    assert replace(mine, status=done).is_told


def test_the_status_of_one_that_was_not_taken_names_no_request() -> None:
    """One of an API server that drops empty lists says the same."""
    mine = asked()
    found = status(mine, refused("Busy", "Another one asks."), None, "then")
    assert found.keys() == {"observedGeneration", "conditions"}
    assert {each["status"] for each in found["conditions"]} == {"False"}
    assert not replace(mine, status=found).was_left
    assert [each["status"] for each in status(mine, waits("UnknownNode", "x."), None, "then")["conditions"]] == [
        "False", "False", "Unknown",
    ]  # fmt: skip
    there = known(a_node(), accepted=None)
    without = {key: value for key, value in status(mine, WAITING, there, "then").items() if key != "tickets"}
    assert says(replace(mine, status=without), status(replace(mine, status=without), WAITING, there, "later"))


def test_a_spec_that_was_changed_since_is_not_followed_and_says_so() -> None:
    """API servers from 1.25 on refuse the change."""
    mine, there = asked({"remedy": "Replace"}), known(PENDING)
    assert (
        "changed since, which is not followed"
        in status(mine, progress(mine, there), there, "t")["conditions"][0]["message"]
    )
    long = Progress("False", "False", "False", "X", "x" * 5000)
    assert len(status(mine, long, None, "t")["conditions"][1]["message"]) == 1000

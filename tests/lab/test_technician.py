"""The lab's technician puts right what a ticket is about, and only that."""

from fleet_runner.core.lifecycle.runs import Ticket
from fleet_runner.lab import faults, technician
from fleet_runner.lab.folder import Lab


def ticket(check: str, *nodes: str) -> Ticket:
    """Return an open ticket about some nodes."""
    return Ticket(1, "a fault", check, "title", "body", nodes, "RECABLE", opened_at=1.0)


def test_the_faults_of_the_tickets_check_and_nodes_are_put_right(lab: Lab) -> None:
    faults.inject(lab, "swapped_cables", "gpu-01", {"rail": 2, "with_rail": 5})
    faults.inject(lab, "swapped_cables", "gpu-02", {"rail": 0, "with_rail": 1})
    faults.inject(lab, "dead_psu", "gpu-01", {})
    done = technician.repair(lab, ticket("cabling_infiniband", "gpu-01"))
    assert done == ("gpu-01: put swapped cables right (rail 2, with rail 5).",)
    assert set(faults.injected(lab, "gpu-01")) == {"dead_psu"}
    assert set(faults.injected(lab, "gpu-02")) == {"swapped_cables"}
    assert technician.repair(lab, ticket("cabling_infiniband", "gpu-01")) == ()


def test_cables_exchanged_with_another_node_are_found_from_either_end(lab: Lab) -> None:
    faults.inject(lab, "swapped_cables", "gpu-01", {"rail": 2, "with": "gpu-02"})
    assert len(technician.repair(lab, ticket("cabling_infiniband", "gpu-02", "gpu-77"))) == 1
    assert faults.injected(lab, "gpu-01") == {}


def test_uplinks_are_found_from_their_leaves_and_not_from_a_node(lab: Lab) -> None:
    faults.inject(lab, "swapped_uplinks", "gpu-01", {"rail": 0, "with_rail": 1})
    assert technician.repair(lab, ticket("fabric_cabling", "infiniband.lab", "gpu-01", "leaf-3")) == ()
    assert len(technician.repair(lab, ticket("fabric_cabling", "infiniband.lab", "leaf-1", "leaf-2"))) == 1
    assert faults.injected(lab, "gpu-01") == {}

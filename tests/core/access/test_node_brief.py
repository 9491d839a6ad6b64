"""What other tools show of a node: short, and as the API tells it."""

from fleet_runner.core.access import node_brief
from fleet_runner.core.access.node_brief import PinnedComponent, SeenLink, TrackedTicket
from fleet_runner.core.cabling.of_node import LinkStatus, NodeCable
from fleet_runner.core.firmware.pinned import AS_PINNED, Pinned
from fleet_runner.core.inventory.records import Termination
from fleet_runner.core.lifecycle.runs import Entry, IntentKind, Node, Ticket
from fleet_runner.core.lifecycle.states import State
from fleet_runner.core.tickets.trackers.links import Link


def test_the_newest_transition_says_why_a_node_is_where_it_is() -> None:
    older = Entry(1, "gpu-01", 1.0, "transition", "It was seen.", "runner")
    newer = Entry(2, "gpu-01", 2.0, "transition", "A fault needs a person.", "runner")
    assert node_brief.reason([newer, older]) == "A fault needs a person."
    assert node_brief.reason([]) == ""


def test_only_what_applies_to_a_node_is_offered() -> None:
    serving = node_brief.wanted(Node("gpu-01", "h100", State.PRODUCTION, 1.0, 1))
    assert IntentKind.HOLD in serving
    assert IntentKind.CERTIFY not in serving
    assert node_brief.wanted(Node("gpu-01", "h100", State.RETIRED, 1.0, 1)) == ()


def test_a_ticket_names_the_issues_that_trackers_have_of_it() -> None:
    found = Ticket(7, "xid.79:gpu-01", "xid", "gpu-01: GPU 3 is gone", "Reseat it.", ("gpu-01",), "TRIAGE", 5.0)
    links = [Link(7, "jira", url="https://jira.example/browse/DC-1"), Link(7, "other")]
    expected = TrackedTicket(7, "gpu-01: GPU 3 is gone", "TRIAGE", 5.0, ("https://jira.example/browse/DC-1",))
    assert node_brief.ticket(found, links) == expected


def test_firmware_and_links_are_told_with_how_they_compare() -> None:
    assert node_brief.components([Pinned("BMC", "bmc", "1.2", ("1.2",), AS_PINNED)]) == (
        PinnedComponent("BMC", "bmc", "1.2", ("1.2",), "as pinned"),
    )
    cable = NodeCable(
        "ib0", Termination("leaf-0", "p1"), "hall-1", "C1", LinkStatus.DIFFERS, "it hears leaf-1", 5.0, 3
    )
    assert node_brief.links([cable]) == (SeenLink("ib0", "leaf-0 p1", "C1", "differs", "it hears leaf-1", 5.0),)

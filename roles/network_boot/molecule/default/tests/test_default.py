"""What the role left behind: a node that was reset once, and began once from the network."""

from tests.scenario import found


def test_the_node_was_power_cycled_once() -> None:
    """The second run found that its BMC had reset it since the moment from which a boot counts."""
    (event,) = found.events("power")
    assert event["action"] == "PowerCycle"


def test_that_boot_and_no_other_came_from_the_network() -> None:
    """The next one comes from where it always does."""
    (start,) = found.events("host_reset")
    assert start["override"]["BootSourceOverrideTarget"] == "Pxe"
    assert found.shown("/redfish/v1/Systems/1")["Boot"]["BootSourceOverrideEnabled"] == "Disabled"


def test_without_a_boot_service_nothing_was_watched() -> None:
    """Nobody would tell of milestones."""
    assert found.verdicts() == {}

"""What the role left behind: a node that was power-cycled once, and has booted since."""

from tests.scenario import found


def test_the_node_was_power_cycled_once_and_boots_from_where_it_always_does() -> None:
    """There is no boot service that it could boot from."""
    (event,) = found.events("power")
    assert event["action"] == "PowerCycle"
    assert found.events("boot_override") == []


def test_it_was_waited_for_until_it_had_booted() -> None:
    """It says that it has booted since, and had not before."""
    assert found.verdicts() == {"rebooted": found.PASS}
    assert all("after its reboot was requested" in each.message for each in found.results()["rebooted"])

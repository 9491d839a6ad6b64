"""What the role left behind: nothing on the node, and in the spool that it booted after its reboot was requested."""

from tests.scenario import found


def test_the_boot_was_held_against_the_moment_from_which_one_counts() -> None:
    """Without that moment any boot would do, and the message would not say so."""
    assert found.verdicts() == {"rebooted": found.PASS}
    assert all("after its reboot was requested" in each.message for each in found.results()["rebooted"])


def test_the_node_was_asked_when_it_booted() -> None:
    """Its own clock tells."""
    assert found.asked() == ["uptime -s"] * found.RUNS

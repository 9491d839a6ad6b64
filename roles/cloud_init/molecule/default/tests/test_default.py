"""What the role left behind: nothing on the node, and in the spool that it booted and set itself up."""

from tests.scenario import found


def test_the_node_booted_anew_and_set_itself_up() -> None:
    """An answer that says that cloud-init is at work is not the last one."""
    assert found.verdicts() == dict.fromkeys(("cloud_init", "rebooted"), found.PASS)
    assert all("after its reboot was requested" in each.message for each in found.results()["rebooted"])


def test_the_node_was_asked_again_while_it_was_at_work() -> None:
    """Once more in the first run."""
    assert found.asked().count("cloud-init status --format json") == found.RUNS + 1

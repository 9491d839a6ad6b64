"""What the role left behind: nothing at the node and its BMC, and in the spool what they said."""

from tests.scenario import found


def test_it_is_known_what_the_bmc_and_the_node_say() -> None:
    """Without either the answer would be UNKNOWN."""
    assert found.verdicts() == dict.fromkeys(("machine_power", "node_up"), found.PASS)


def test_the_bmc_was_only_read() -> None:
    """Nothing was switched and nothing sent."""
    assert found.events() == []

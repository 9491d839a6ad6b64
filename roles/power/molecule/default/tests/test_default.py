"""What the role left behind: nothing at the BMC, and in the spool that the power supplies are the designed ones."""

from tests.scenario import found


def test_power_supplies_were_held_against_the_design() -> None:
    """Without their BMC they would be UNKNOWN."""
    assert found.verdicts() == {"power_supplies": found.PASS}


def test_the_bmc_was_only_read() -> None:
    """Nothing was switched and nothing sent."""
    assert found.events() == []

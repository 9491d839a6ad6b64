"""What the role left behind: nothing, where no scheduler gives the node work."""

from tests.scenario import found


def test_nothing_was_asked_and_nothing_judged() -> None:
    """What ends the work is then the remedy itself."""
    assert found.asked() == []
    assert found.verdicts() == {}

"""What the role left behind: nothing on the node, and in the spool that nobody uses it."""

from tests.scenario import found


def test_a_node_whose_gpus_nobody_uses_is_idle() -> None:
    """What waits for that reads it in `observed`."""
    assert found.verdicts() == {"gpu_usage": found.PASS}
    assert [each.observed for each in found.results()["gpu_usage"]] == [
        {"in_use": False, "processes": 0}
    ] * found.RUNS


def test_the_node_was_asked_for_nothing_else() -> None:
    """A drain goes on for hours, with a look a minute."""
    assert found.asked() == ["nvidia-smi -q -x"] * found.RUNS

"""What the role left behind: a node that Slurm may give work, and that this is known."""

from tests.scenario import found


def test_the_node_was_given_back_once() -> None:
    """A second run finds it in service."""
    assert [each for each in found.asked() if "update" in each] == ["scontrol update nodename=gpu-01 state=resume"]


def test_it_takes_work_again() -> None:
    """As Slurm itself says."""
    assert found.verdicts() == {"scheduler": found.PASS}
    serving = {"in_use": False, "ours": False, "state": "idle", "takes_work": True, "work": []}
    assert [each.observed for each in found.results()["scheduler"]] == [serving] * found.RUNS

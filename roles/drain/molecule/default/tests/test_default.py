"""What the role left behind: a node that Slurm gives no work, and in the spool that nobody uses it."""

from tests.scenario import found

REASON = "fleet-runner, by hand: a fan, at noon ("


def test_a_node_whose_gpus_nobody_uses_is_idle() -> None:
    """What waits for that reads it in `observed`; its scheduler says so before the node is asked, and after."""
    assert found.verdicts() == {"gpu_usage": found.PASS, "scheduler": found.PASS}
    assert [each.observed for each in found.results()["gpu_usage"]] == [
        {"in_use": False, "processes": 0}
    ] * found.RUNS
    drained = {"in_use": False, "ours": True, "state": "idle+drain", "takes_work": False, "work": []}
    assert [each.observed for each in found.results()["scheduler"]] == [drained] * (2 * found.RUNS)


def test_it_was_drained_once_under_its_reason() -> None:
    """A drain goes on for hours, with a look a minute."""
    asked = found.asked()
    assert asked.count("nvidia-smi -q -x") == found.RUNS
    [update] = [each for each in asked if "update" in each]
    assert update.startswith(f"scontrol update nodename=gpu-01 state=drain reason={REASON}")
    assert {each.partition(" ")[0] for each in asked} == {"nvidia-smi", "scontrol", "squeue"}

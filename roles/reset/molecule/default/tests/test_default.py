"""What the role left behind: one GPU that was reset once, what held it running again, and a log on the node."""

import json

from tests.scenario import found

UNIT = "nvidia-persistenced.service"


def test_the_gpu_of_the_fault_was_reset_once_and_no_other() -> None:
    """The second run of the stay found it in the node's log."""
    assert [call for call in found.asked() if "--gpu-reset" in call] == ["nvidia-smi --gpu-reset --id=0000:1b:00.0"]
    first, second = found.results()["resets"]
    assert (first.verdict, second.verdict) == (found.PASS, found.PASS)
    assert (first.observed["again"], second.observed["again"]) == (False, True)


def test_what_held_it_of_ours_was_stopped_and_started_again() -> None:
    """Once each."""
    calls = [call for call in found.asked() if call.split()[1] in {"stop", "start"}]
    assert calls == [f"systemctl start {UNIT}", f"systemctl stop {UNIT}"]


def test_the_node_keeps_what_was_done_until_its_next_boot() -> None:
    """So that nobody resets it again in this stay."""
    [log] = (found.FOLDER / "resets").glob("*.json")
    assert json.loads(log.read_text())["done"]

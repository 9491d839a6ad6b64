"""Rollouts as people read them: nothing is left uncounted, and why one waits is said as it is."""

from dataclasses import replace
from typing import Any

from fleet_runner.core.firmware.rollout import Rollout, RolloutStatus
from fleet_runner.core.firmware.rollout_text import by_wave, counted, counts, other, reasons, waits, wave_name
from fleet_runner.core.firmware.turns import Member, RolloutStep
from tests.core.firmware.rolling import a_rollout


def members(turns: str, wave: int = 1) -> list[Member]:
    """Return nodes by the first letters of how far they are."""
    by_letter = {turn.value[0]: turn for turn in RolloutStep}
    return [Member(f"gpu-{at:02}", wave, by_letter[letter], changed_at=5.0) for at, letter in enumerate(turns)]


def running(**more: Any) -> Rollout:
    """Return a rollout with a canary of 1 and waves of 4 that half of the nodes may fail."""
    return replace(a_rollout(), canary=1, wave=4, failed_share=0.5, standing=RolloutStatus.RUNNING, **more)


def test_every_node_is_counted_by_a_word() -> None:
    assert counts(members("ddfaws")) == "2 done, 1 failed, 1 out, 1 waiting, 1 skipped"
    assert counts([]) == "no nodes"
    assert sum(counted(members("ddfaws")).values()) == 6


def test_waves_come_in_their_order_and_have_names() -> None:
    assert list(by_wave([*members("w", 2), *members("d", 0)])) == [0, 2]
    assert [wave_name(0), wave_name(3)] == ["canary", "wave 3"]


def test_nodes_that_are_skipped_are_told_by_the_reason() -> None:
    skipped = [replace(each, detail="it is held") for each in members("ss")]
    assert {why: len(nodes) for why, nodes in reasons([*skipped, *members("d")]).items()} == {"it is held": 2}


def test_another_rollout_of_the_device_type_that_goes_on_is_named() -> None:
    mine = running(id=1)
    later = replace(mine, id=2, standing=RolloutStatus.PAUSED)
    assert other(mine, [mine, replace(later, standing=RolloutStatus.DONE), replace(later, device_type="else")]) == ""
    assert other(mine, [later]).startswith("rollout 2 of device type ")


def test_why_a_rollout_waits_is_said() -> None:
    assert waits(running(), members("dd")) == ""
    assert "paused" in waits(replace(running(), standing=RolloutStatus.PAUSED), members("aw"))
    assert waits(running(), members("w", 0)).startswith("The canary has room for 1 more;")
    assert "Wave 1 has room for 3 more" in waits(running(), members("aw"))
    assert "Wave 1 is full" in waits(running(), members("aaaaw"))
    assert "The limit of failures is reached" in waits(running(), members("ffdaaw"))
    assert waits(running(), [*members("f", 0), *members("w")]).startswith("It will be stopped: gpu-00 of the canary")
    assert "Wave 1 is full" in waits(running(counts_from=6.0), members("fdaaaw"))

"""The node that differs from its job's other nodes, by what sweeps measured."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.jobs.node_measures import CHECKS, MEASURES, Measured, NodesCompared, OddNode, compare, measured

PCI = "0000:52:00.0"
NODES = tuple(f"gpu-{number:02}" for number in range(8))
TYPES = dict.fromkeys(NODES, "h100")
AT = 1_795_000_000.0  # 2026-11-18 11:06:40 UTC
HEALTHY: Mapping[str, Mapping[str, Any]] = {
    "gpu_clocks": {"mhz": {"sm": 1980, "mem": 2619}, "reasons": ["sw_power_cap"]},
    "gpu_power": {"watts": 650.0, "limit_watts": 700.0},
    "gpu_pcie": {"width": 16, "generation": 5, "replays": 7},
    "gpu_errors": {"uncorrectable": 0},
}


def observed(check: str, **changed: Any) -> dict[str, Any]:
    """Return what a check observes of two GPUs, and of two ports; what is `changed` is of the first."""
    if check == "nvlink":
        return {"links": {PCI: 18, "0000:9b:00.0": 18} | changed}
    if check == "ib_ports":
        return {"ports": {"mlx5_0": "ACTIVE 400 Gb/sec (4X NDR)", "mlx5_1": "ACTIVE 400 Gb/sec (4X NDR)"} | changed}
    if check == "gpu_thermals":
        return {"margin_celsius": {PCI: 40, "0000:9b:00.0": 41} | changed}
    return {"gpus": {PCI: {**HEALTHY[check], **changed}, "0000:9b:00.0": HEALTHY[check]}}


def looks(check: str, node: str = "", since: int = 0, /, **changed: Any) -> list[Measured]:
    """Return six looks at all nodes; what is `changed` is of one node, from a look on."""
    return [
        measured(name, check, AT + 600 * number,
                 observed(check, **(changed if name == node and number >= since else {})))
        for number in range(6) for name in NODES
    ]  # fmt: skip


def healthy() -> list[Measured]:
    return [each for check in CHECKS for each in looks(check)]


def odd(*told: Measured) -> tuple[OddNode, ...]:
    return compare(told, TYPES).odd


def test_nodes_that_are_alike_have_no_odd_one() -> None:
    assert compare(healthy(), TYPES) == NodesCompared(tuple(each.name for each in MEASURES), 8)


@pytest.mark.parametrize(
    ("check", "changed", "told"),
    [
        ("gpu_clocks", {"mhz": {"sm": 1200, "mem": 2619}},
         "is at 1,200 MHz beside 1,980 MHz on 14 others"),
        ("gpu_clocks", {"mhz": {"sm": 1980, "mem": 1593}}, "has its memory at 1,593 MHz beside 2,619 MHz"),
        ("gpu_clocks", {"reasons": ["hw_thermal_slowdown"]},
         "is slowed by heat or power in 100% of the looks beside 0%"),
        ("gpu_power", {"limit_watts": 500.0}, "is limited to 500 W beside 700 W"),
        ("gpu_pcie", {"width": 8}, "has 8 PCIe lanes beside 16"),
        ("nvlink", {PCI: 17}, "has 17 NVLinks up beside 18"),
        ("ib_ports", {"mlx5_1": "ACTIVE 200 Gb/sec (4X HDR)"},
         "is at 200 Gb/s beside 400 Gb/s on 14 others"),
        ("ib_ports", {"mlx5_0": "DOWN 10 Gb/sec (4X SDR)"}, "is at 0 Gb/s beside 400 Gb/s"),
    ],
)  # fmt: skip
def test_a_machine_that_differs_is_named(check: str, changed: dict[str, Any], told: str) -> None:
    (found,) = odd(*looks(check, "gpu-03", **changed))
    assert found.node == "gpu-03"
    assert found.name in {f"GPU {PCI}", "port mlx5_0", "port mlx5_1"}
    assert told in found.sentence
    assert found.measure.alone
    assert found.since is None


@pytest.mark.parametrize(
    ("check", "changed", "told"),
    [
        ("gpu_thermals", {PCI: 2}, "is 2 °C from its limit beside 40 °C"),
        ("gpu_power", {"watts": 300.0}, "draws 300 W beside 650 W"),
    ],
)
def test_heat_and_power_name_nobody_alone(check: str, changed: dict[str, Any], told: str) -> None:
    """A rank that waits draws less."""
    (found,) = odd(*looks(check, "gpu-03", **changed), *looks("gpu_clocks"))
    assert told in found.sentence
    assert not found.measure.alone


@pytest.mark.parametrize(
    ("check", "name", "told"),
    [
        ("gpu_pcie", "replays", "sent 500 PCIe packets again beside 0 on 14 others"),
        ("gpu_errors", "uncorrectable", "counted 500 new uncorrectable memory errors beside 0"),
    ],
)
def test_counters_are_told_by_their_growth(check: str, name: str, told: str) -> None:
    """What was counted before is history."""
    changed = [
        each if each.node != "gpu-03" else
        measured(each.node, check, each.at, observed(check, **{name: 90_000 + round((each.at - AT) / 6)}))
        for each in looks(check)
    ]  # fmt: skip
    (found,) = odd(*changed)
    assert told in found.sentence
    assert found.since is None


def test_the_moment_from_which_on_it_lasts_is_told() -> None:
    (found,) = odd(*looks("gpu_clocks", "gpu-03", 2, mhz={"sm": 1200, "mem": 2619}))
    assert found.sentence.endswith("on 14 others, since 2026-11-18 11:26 UTC")
    (found,) = odd(*looks("gpu_clocks", "gpu-03", 2, reasons=["hw_slowdown"]))
    assert found.since == AT + 1200
    over = [each for each in looks("gpu_clocks", "gpu-03", mhz={"sm": 1200, "mem": 2619})
            if each.node != "gpu-03" or each.at < AT + 3000]  # fmt: skip
    (found,) = odd(*over, measured("gpu-03", "gpu_clocks", AT + 3000, observed("gpu_clocks")))
    assert found.since is None, "it is well again at the last look"


def test_a_gpu_without_work_is_not_slow() -> None:
    """It lowers its clock and its link: nobody uses it."""
    idle: dict[str, Any] = {"mhz": {"sm": 345, "mem": 1593}, "reasons": ["gpu_idle"]}
    assert odd(*looks("gpu_clocks", "gpu-03", **idle), *looks("gpu_pcie", "gpu-03", generation=1)) == ()
    (found,) = odd(*looks("gpu_clocks"), *looks("gpu_pcie", "gpu-03", generation=4))
    assert "runs at PCIe generation 4 beside 5" in found.sentence
    assert odd(*looks("gpu_pcie", "gpu-03", generation=4)) == (), "nobody tells whether it has work"


def test_a_port_that_tells_no_rate_is_not_compared() -> None:
    assert odd(*looks("ib_ports", "gpu-03", mlx5_0="ACTIVE")) == ()


def test_one_look_at_a_clock_is_of_a_moment() -> None:
    once = [each for each in looks("gpu_clocks", "gpu-03", mhz={"sm": 1200, "mem": 1000}) if each.at == AT]
    assert compare(once, TYPES) == NodesCompared()


def test_only_nodes_of_one_type_are_compared() -> None:
    """Three of another type have slower clocks: of three nobody knows who is odd."""
    slow = {"mhz": {"sm": 1200, "mem": 2619}}
    told = [each for each in looks("gpu_clocks") if each.node < "gpu-05"]
    others = [measured(name, "gpu_clocks", AT + number, observed("gpu_clocks", **slow))
              for name in NODES[5:] for number in range(2)]  # fmt: skip
    types = TYPES | dict.fromkeys(NODES[5:], "a100")
    assert compare([*told, *others], types).odd == ()
    assert compare([*told, *others], types).nodes == 5
    assert compare(told, {}) == NodesCompared()


@given(st.dictionaries(st.sampled_from(["gpus", "links", "ports", "margin_celsius"]),
                       st.recursive(st.none() | st.integers() | st.text() | st.floats() | st.booleans(),
                                    lambda inner: st.lists(inner, max_size=3)
                                    | st.dictionaries(st.sampled_from(["a", "mhz", "sm", "reasons", "width"]), inner),
                                    max_leaves=12)))  # fmt: skip
def test_nothing_that_was_observed_is_too_strange(strange: dict[str, Any]) -> None:
    """It names nobody else, and what is no number is left out."""
    told = [measured(name, check, AT + number, strange if name == "gpu-03" else observed(check))
            for check in CHECKS for number in range(3) for name in NODES]  # fmt: skip
    assert {each.node for each in odd(*told)} <= {"gpu-03"}

"""How often jobs are interrupted, on histories whose truth is known."""

import math

import numpy as np
import pytest

from fleet_runner.core.reliability.interruptions.failure_rates import by_family, of_job, often
from fleet_runner.core.reliability.interruptions.families import Family
from tests.core.reliability.interruptions.made import DAY, fallen, found

NODES = [f"gpu-{number:03}" for number in range(64)]


def history(seed: int, days: float, mttf_days: float) -> tuple[list[int], dict[str, float]]:
    """Interruptions by chance alone: how many each node had, and for how long it served."""
    drawn = np.random.default_rng(seed)
    served = {node: DAY * days * float(drawn.uniform(0.2, 1.0)) for node in NODES}
    return [int(drawn.poisson(served[node] / DAY / mttf_days)) for node in NODES], served


@pytest.mark.parametrize(("days", "mttf_days"), [(7.0, 50.0), (54.0, 150.0)])
def test_the_interval_holds_the_true_time_between_failures(days: float, mttf_days: float) -> None:
    """In 95 of 100 histories, and never in less than 90: the exact interval of a count is on the safe side."""
    held = 0
    for seed in range(300):
        counts, served = history(seed, days, mttf_days)
        mine = [found(fallen(node=node)) for node, count in zip(NODES, counts, strict=True) for _ in range(count)]
        rate = often(mine, served)
        assert rate is not None
        between = rate.between
        held += (between.low or 0.0) <= mttf_days <= (math.inf if between.high is None else between.high)
    assert 0.90 <= held / 300 <= 1.0


def test_with_little_service_no_rate_is_told() -> None:
    assert often([found()], {"gpu-01": 29 * DAY}) is None
    assert by_family([found()], {"gpu-01": 29 * DAY}) == ()
    assert often([], {}) is None


def test_a_component_has_the_rate_of_its_own_interruptions() -> None:
    served = {"gpu-01": 100 * DAY, "gpu-02": 100 * DAY}
    nvlink = found(fallen(code="nvlink.down"))
    rows = by_family([found(), nvlink, nvlink, found(fallen(code="fs.server", node=""))], served)
    told = {row.family: (row.interruptions, row.between.value) for row in rows}
    assert told == {Family.GPU: (1, 200.0), Family.NVLINK: (2, 100.0), Family.FILE_SYSTEM: (1, 200.0)}


def test_what_no_node_did_scatters_by_chance() -> None:
    """As many on one node would be told with a wider interval."""
    served = {f"gpu-{number:02}": 10 * DAY for number in range(20)}
    nowhere = often([found(fallen(node=""))] * 12, served)
    one = often([found(fallen(node="gpu-01"))] * 12, served)
    assert nowhere is not None
    assert one is not None
    assert nowhere.events == one.events == 12
    assert (nowhere.each.high or 0.0) < (one.each.high or 0.0)


def test_a_job_on_more_nodes_is_interrupted_as_many_times_as_often() -> None:
    rate = often([found(), found()], {"gpu-01": 100 * DAY})
    assert rate is not None
    one, many = of_job(rate, 1), of_job(rate, 100)
    assert (one.value, many.value) == (50.0, 0.5)
    assert (many.high or 0.0) == pytest.approx((one.high or 0.0) / 100)
    none = often([], {"gpu-01": 100 * DAY})
    assert none is not None
    assert of_job(none, 2).high is None


def test_the_published_times_follow_from_the_published_rate() -> None:
    """6.5 in 1,000 node days: 1.8 h for 16,384 GPUs on nodes of eight, and 0.23 h for 131,072 (arXiv 2410.21680)."""
    rate = often([found()] * 65, {"gpu-01": 10_000 * DAY})
    assert rate is not None
    assert of_job(rate, 16_384 / 8).value * 24 == pytest.approx(1.8, abs=0.05)
    assert of_job(rate, 131_072 / 8).value * 24 == pytest.approx(0.23, abs=0.01)

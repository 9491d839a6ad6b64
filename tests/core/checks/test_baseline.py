"""Pass marks learned from known-good nodes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.baseline import LearnedLimit, Margin, changes, good, learn, samples, values
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.check import Measure
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.lifecycle.runs import Stored
from fleet_runner.core.lifecycle.states import Stage
from tests.core.checks.catalogue.judging import HEALTHY, judged

CHECK = CHECKS["nccl_allreduce"]
BUS = CHECK.measures[0]
LATENCY = CHECKS["ib_write"].measures[1]

RATES = st.floats(80, 125)


def stored(node: str, observed: dict[str, object], verdict: Verdict = Verdict.PASS, *evidence: str) -> Stored:
    """Return a result of a node."""
    result = Result(CHECK.name, verdict, "x", observed=observed, evidence=evidence)
    return Stored(1, 1, node, Stage.BURN_IN, 1.0, result)


@given(
    st.lists(st.lists(RATES, min_size=2, max_size=4), min_size=3, max_size=6),
    st.floats(1e-6, 1e4),
    st.floats(0, 10),
    st.floats(0, 0.5),
)
def test_a_mark_lies_on_the_lenient_side_of_the_median(
    mine: list[list[float]], scale: float, deviations: float, share: float
) -> None:
    """Below it where more is better, above it where less is; and never below half of it."""
    found = {f"gpu-{at}": [value * scale for value in each] for at, each in enumerate(mine)}
    margin = Margin(deviations, share)
    for measure in (BUS, LATENCY):
        told = learn(CHECK, measure, found, {}, margin)
        if told.mark is None:
            assert "not alike" in told.why
            continue
        assert told.median is not None
        dust = told.median * 1e-6  # what is beyond six digits of a digit is a float's own
        assert told.mark <= told.median + dust if measure.higher else told.mark >= told.median - dust
        assert told.mark >= told.median / 2 * 0.99
        bad = {
            node for node, each in found.items()
            if (min(each) < told.mark if measure.higher else max(each) > told.mark)
        }  # fmt: skip
        assert set(told.outside) == bad


def test_one_example_to_read() -> None:
    """The median is 475, the median deviation 2: five of them are less than 3 per cent."""
    found = {"gpu-01": [470.0, 475.0], "gpu-02": [473.0, 475.0], "gpu-03": [477.0, 480.0], "gpu-04": [440.0]}
    told = learn(CHECK, BUS, found, {"active": {"nccl_allreduce": {"bus_gbps_min": 430}}}, Margin())
    assert told == LearnedLimit("nccl_allreduce", BUS, 4, 7, 475.0, 2.0, 460.0, 430.0, ("gpu-04",))
    assert changes([told]) == {"active.nccl_allreduce.bus_gbps_min": 460.0}
    wide = learn(CHECK, BUS, found, {}, Margin(deviations=20))
    assert (wide.mark, wide.now) == (435.0, None)


@pytest.mark.parametrize(
    ("found", "why"),
    [
        ({}, "0 numbers of 0 nodes, expected at least 5 of 3"),
        ({"a": [1.0] * 9, "b": [1.0] * 9}, "18 numbers of 2 nodes"),
        ({"a": [1.0], "b": [1.0], "c": [1.0]}, "3 numbers of 3 nodes"),
    ],
)
def test_too_few_nodes_or_numbers_teach_nothing(found: dict[str, list[float]], why: str) -> None:
    """And that is said."""
    told = learn(CHECK, BUS, found, {}, Margin())
    assert told.mark is None
    assert told.why.startswith(why)
    assert changes([told]) == {}


def test_nodes_that_are_not_alike_teach_nothing() -> None:
    """Half of their median would be a mark that nothing fails."""
    told = learn(CHECK, BUS, {"a": [100.0] * 2, "b": [200.0] * 2, "c": [300.0] * 2}, {}, Margin())
    assert (told.mark, told.median, told.deviation) == (None, 200.0, 100.0)
    assert told.why.startswith("the median is 200 and the median deviation 100, expected at most 20% of it")
    alike = learn(CHECK, BUS, {"a": [80.0] * 2, "b": [100.0] * 2, "c": [120.0] * 2}, {}, Margin())
    assert alike.mark == 50.0


def test_a_test_that_is_judged_again_at_each_visit_is_measured_once() -> None:
    """What else was read at the visits is no other measurement; the same text of another node is."""
    results = [stored("a", {"bus_gbps": 100.0}, Verdict.PASS, "job", f"visit {at}") for at in range(30)]
    results += [
        stored("a", {"bus_gbps": 90.0}, Verdict.PASS, "older"),
        stored("b", {"bus_gbps": 80.0}, Verdict.PASS, "job"),
    ]
    assert samples(BUS, results, ["a", "b"]) == {"a": (100.0, 90.0), "b": (80.0,)}


def test_what_processors_reach_is_no_mark_for_gpus() -> None:
    """An all-reduce is one or the other, and its marks are two."""
    measures = {each.mark.rpartition(".")[2]: each.observed for each in CHECKS["allreduce"].measures}
    assert measures == {"nccl_bus_gbps_min": "nccl_bus_gbps", "gloo_bus_gbps_min": "gloo_bus_gbps"}
    observed = judged("allreduce", HEALTHY["allreduce"]).observed
    assert [bool(list(values(observed, name))) for name in measures.values()] == [True, False]


def test_a_mark_that_is_what_it_was_changes_nothing() -> None:
    """There is nothing to read."""
    found = {name: [100.0, 100.0] for name in "abc"}
    told = learn(CHECK, BUS, found, {"active": {"nccl_allreduce": {"bus_gbps_min": 97}}}, Margin())
    assert (told.mark, changes([told])) == (97.0, {})


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("bus", [3.0]), ("gpus.*.rate", [1.0, 2.0]), ("list.*", [5.0, 6.0]), ("list.*.x", []), ("none", []),
        ("gpus", []), ("text", []), ("flag", []), ("zero", []), ("bus.*", []), ("gpus.*", []), ("text.x", []),
        ("tiny", []),
    ],
)  # fmt: skip
def test_numbers_are_found_by_their_path(path: str, found: list[float]) -> None:
    """PCI addresses have dots of their own, and are only ever an entry."""
    observed = {
        "bus": 3, "gpus": {"0000:1b:00.0": {"rate": 1.0}, "0000:9b:00.0": {"rate": 2}}, "list": [5, 6.0, "x"],
        "text": "7", "flag": True, "zero": 0, "none": None, "tiny": 5e-324,
    }  # fmt: skip
    assert list(values(observed, path)) == found


def test_only_answers_of_the_chosen_nodes_count_and_of_each_only_the_newest() -> None:
    """What still runs has no answer; one that is tested daily does not outvote the others."""
    results = [
        *(stored("gpu-01", {"bus_gbps": 100.0 - at}) for at in range(30)),
        stored("gpu-02", {"bus_gbps": 90.0}, Verdict.FAIL),
        stored("gpu-02", {"bus_gbps": 1.0}, Verdict.UNKNOWN),
        stored("gpu-02", {}),
        stored("gpu-03", {"bus_gbps": 80.0}),
    ]
    found = samples(BUS, results, ["gpu-02", "gpu-01"])
    assert found == {"gpu-01": tuple(100.0 - at for at in range(20)), "gpu-02": (90.0,)}


def test_good_nodes_are_those_in_production_that_failed_nothing() -> None:
    """Of any check."""
    results = [stored("gpu-01", {}, Verdict.FAIL), stored("gpu-02", {}), stored("gpu-03", {}, Verdict.UNKNOWN)]
    assert good(["gpu-01", "gpu-02", "gpu-03", "gpu-04"], results) == ("gpu-02", "gpu-03", "gpu-04")


MEASURED = [(name, measure) for name in sorted(HEALTHY) for measure in CHECKS[name].measures]


@pytest.mark.parametrize(("name", "measure"), MEASURED, ids=lambda value: getattr(value, "mark", value))
def test_every_measure_of_the_catalogue_has_a_mark_of_its_own_section(name: str, measure: Measure) -> None:
    """A mark that no check reads would be learned in vain."""
    assert measure.mark.startswith(f"{CHECKS[name].section}.")
    assert judged(name, HEALTHY[name]).verdict is Verdict.PASS


def test_what_a_healthy_node_observes_holds_the_numbers_that_are_learned() -> None:
    """Of each check at least one; those that the evidence does not measure have no number."""
    for name in {name for name, _ in MEASURED}:
        observed = judged(name, HEALTHY[name]).observed
        assert any(list(values(observed, measure.observed)) for measure in CHECKS[name].measures), name

"""Every metric is told by a check that there is, of a part that findings name alike."""

import re

import pytest

from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.reliability.trends import samples
from fleet_runner.core.reliability.trends.metrics import BY_NAME, METRICS, UNITS, Kind, component
from tests.core.checks.catalogue.judging import HEALTHY, judged

RARE = {
    "allreduce_gloo", "copy_local_copy", "drawn", "gpu_memory_margin", "gpu_retired_pages", "gpu_sram_errors",
    "link_losses", "multiplies_fp8", "nic_rx_missed_errors", "nvlink_crc_data", "nvlink_crc_flits",
    "nvlink_effective", "nvlink_recovered", "nvlink_symbols", "port_link_error_recovery",
    "port_local_ack_timeout_err", "port_local_link_integrity_errors", "port_packet_seq_err",
    "port_port_rcv_remote_physical_errors",
}  # fmt: skip
"""What the node of the hand-written evidence does not have: other links, other GPUs, fp8, any loss at all."""


def test_healthy_evidence_tells_every_metric_that_such_a_node_has() -> None:
    """A path that is misspelt would be told by nobody, in silence."""
    readers, left_out = samples.readers(METRICS), dict[str, int]()
    told = {
        METRICS[number].name
        for name, texts in HEALTHY.items()
        for sample in samples.read(readers.get(name, ()), judged(name, texts).observed, left_out)
        for number, _ in sample.numbers
    }
    assert BY_NAME.keys() - told == RARE
    assert left_out == {}


def test_there_are_enough_and_each_says_what_it_is() -> None:
    assert len(BY_NAME) == len(METRICS) >= 50
    for metric in METRICS:
        assert re.fullmatch(r"[a-z][a-z0-9_]*", metric.name), metric
        assert metric.check in CHECKS
        assert metric.unit in UNITS
        assert metric.least > 0
        assert not metric.meaning.endswith(".")


def test_the_marks_of_active_tests_are_those_of_their_measures() -> None:
    """Both name the same key of the profile, or the crossing of a mark would be foreseen of another."""
    measured = {measure.mark for check in CHECKS.values() for measure in check.measures}
    assert {metric.mark for metric in METRICS if metric.kind is Kind.MEASURED} - {""} == measured


@pytest.mark.parametrize(
    ("part", "key", "name"),
    [
        ("gpu", "0000:1b:00.0", "GPU 0000:1b:00.0"),
        ("gpu", "GPU 3", "GPU 3"),
        ("nvme", "disk S6MYNA0T000003", "disk S6MYNA0T000003"),
        ("dimm", "P1-DIMMA1", "DIMM P1-DIMMA1"),
        ("hca", "mlx5_0", "mlx5_0"),
    ],
)
def test_a_part_is_called_as_findings_call_it(part: str, key: str, name: str) -> None:
    assert component(part, key) == name

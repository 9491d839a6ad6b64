"""The adapter beside each GPU."""

import re

import pytest

from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from tests.core.checks.catalogue.judging import NODE, judged
from tests.core.checks.healthy import text_of

TOPOLOGY = text_of("nvidia_smi/topo.txt")
DESIGN = {str(gpu): f"mlx5_{gpu}" for gpu in range(8)}


def seen(text: str = TOPOLOGY, wanted: object = DESIGN, **sections: object) -> Result:
    expected = Expected(NODE, {"nic_of_gpu": wanted, **sections}, {})
    return judged("gpu_nics", {"nvidia_smi_topology": text}, expected)


def named(*names: tuple[int, str]) -> str:
    """Return the table with other names of some adapters."""
    text = TOPOLOGY
    for number, name in names:
        text = re.sub(rf"NIC{number}: \S+", f"NIC{number}: {name}", text)
    return text


EXCHANGED = named((0, "mlx5_1"), (1, "mlx5_0"))


def test_every_gpu_has_its_own_adapter() -> None:
    result = seen()
    assert (result.verdict, result.message) == (Verdict.PASS, "8 GPUs have their own adapter beside them")
    assert result.observed["nearest"]["3"] == ["mlx5_3", "PXB"]


def test_numbers_of_gpus_may_be_numbers() -> None:
    assert seen(wanted={gpu: f"mlx5_{gpu}" for gpu in range(8)}).verdict is Verdict.PASS


def test_two_exchanged_adapters_are_one_finding_that_names_gpus_and_adapters() -> None:
    result = seen(EXCHANGED, hca_interfaces={"mlx5_0": "eth0"})
    (finding,) = result.findings
    assert (finding.code, finding.remedy, finding.nodes) == ("gpu.nic_affinity", Remedy.TRIAGE, (NODE,))
    assert finding.message == (
        "not the designed adapter beside GPU 0: expected mlx5_0 (eth0), found mlx5_1 (PXB);"
        " GPU 1: expected mlx5_1, found mlx5_0 (PXB)"
    )
    assert finding.steps


def test_an_adapter_in_a_slot_away_from_its_gpu_is_found() -> None:
    (row,) = [line for line in TOPOLOGY.split("\n") if line.startswith("GPU2")]
    (finding,) = seen(TOPOLOGY.replace(row, row.replace("PXB", "NODE"))).findings
    nearest = "mlx5_0 and mlx5_1 and mlx5_2 and mlx5_3 and mlx5_bond_0 (NODE)"
    assert f"GPU 2: expected mlx5_2, found {nearest}" in finding.message


def test_names_that_have_shifted_send_nobody() -> None:
    shifted = named(*((number, f"mlx5_{(number + 1) % 8}") for number in range(8)))
    (finding,) = seen(shifted).findings
    assert (finding.remedy, finding.steps) == (Remedy.WATCH, ())
    assert "names have shifted" in finding.message


def test_one_of_several_adapters_behind_a_gpus_switch_is_enough() -> None:
    """Of a DGX A100: two GPUs and four adapters behind one switch."""
    assert seen(re.sub("NODE|PXB", "PXB", TOPOLOGY), DESIGN | {"0": "mlx5_3"}).verdict is Verdict.PASS


def test_without_a_declaration_it_is_recorded_and_nothing_is_judged() -> None:
    result = seen(EXCHANGED, {})
    assert (result.verdict, result.findings) == (Verdict.PASS, ())
    assert result.observed["nearest"]["0"] == ["mlx5_1", "PXB"]
    assert "recorded" in result.message


@pytest.mark.parametrize(
    ("text", "wanted", "words"),
    [
        (TOPOLOGY, {"0": "mlx5_0"}, "lists 8 GPUs, expected the 1"),
        (named((7, "mlx5_9")), DESIGN, "does not list mlx5_7"),
        (re.sub("PXB|NODE", "PHB", TOPOLOGY), DESIGN, "a virtual machine"),
        ("\tGPU0\tCPU Affinity\nGPU0\t X \t0-3\n", DESIGN, "lists no adapter"),
        ("Failed to initialize NVML: Unknown Error\n", DESIGN, "no table"),
        (TOPOLOGY, {"gpu": "mlx5_0"}, "expected the name of an adapter"),
        (TOPOLOGY, {"0": 5}, "expected the name of an adapter"),
        (TOPOLOGY, "mlx5_0", "fleet_profile.nic_of_gpu"),
    ],
)
def test_what_cannot_be_told_is_unknown(text: str, wanted: object, words: str) -> None:
    result = seen(text, wanted)
    assert (result.verdict, result.findings) == (Verdict.UNKNOWN, ())
    assert words in result.message


def test_a_profile_that_names_nothing_is_not_asked() -> None:
    assert judged("gpu_nics", {}, Expected(NODE, {"parts": {}}, {})).verdict is Verdict.SKIPPED

"""`nvidia-smi topo -m`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.smi_topology import MOST, parse
from tests.core.checks.healthy import text_of

TOPOLOGY = text_of("nvidia_smi/topo.txt")

OLD = """\
\tGPU0\tGPU1\tmlx5_0\tmlx5_1\tCPU Affinity
GPU0\t X \tNV12\tPIX\tSYS\t0-31
GPU1\tNV12\t X \tSYS\tPIX\t32-63
mlx5_0\tPIX\tSYS\t X \tSYS
mlx5_1\tSYS\tPIX\tSYS\t X
"""


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    with pytest.raises(EvidenceError):
        parse(text)


def test_each_adapter_is_read_by_its_name_with_its_distance() -> None:
    table = parse(TOPOLOGY)
    assert table.adapters == (*(f"mlx5_{number}" for number in range(8)), "mlx5_bond_0")
    assert sorted(table.gpus) == list(range(8))
    assert [table.gpus[5][name] for name in ("mlx5_5", "mlx5_4", "mlx5_0")] == ["PXB", "NODE", "SYS"]


def test_a_copy_with_blanks_and_without_colour_reads_alike() -> None:
    copied = TOPOLOGY.replace("\t", "    ").replace("\x1b[4m", "").replace("\x1b[0m", "")
    assert parse(copied) == parse(TOPOLOGY)


def test_an_old_drivers_columns_are_the_adapters_names() -> None:
    assert parse(OLD).gpus == {0: {"mlx5_0": "PIX", "mlx5_1": "SYS"}, 1: {"mlx5_0": "SYS", "mlx5_1": "PIX"}}


def test_a_table_that_was_cut_anywhere_is_refused_or_whole() -> None:
    """A name that was cut, mlx5_1 of mlx5_10, is another adapter's."""
    for text in (TOPOLOGY, OLD):
        whole = parse(text)
        for end in range(len(text)):
            try:
                assert parse(text[:end]) == whole
            except EvidenceError:
                continue


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("GPU0", "GPU 0", "no table that begins with GPU0"),
        ("NIC8: mlx5_bond_0", "", "does not name NIC8"),
        ("NIC8: mlx5_bond_0", "NIC8: mlx5_7", "one name"),
        ("PXB", "PIG", "is 'PIG' from GPU0"),
        ("NIC3\t", "NIC2\t", "found the columns"),
        ("GPU5\tNV18", "GPU6\tNV18", "the row of GPU5 is missing"),
        ("NIC8\tCPU", "\t".join(f"NIC{number}" for number in range(8, MOST)) + "\tCPU", "found the columns"),
    ],
)
def test_a_table_that_is_none_is_refused(old: str, new: str, words: str) -> None:
    with pytest.raises(EvidenceError, match=words):
        parse(TOPOLOGY.replace(old, new))

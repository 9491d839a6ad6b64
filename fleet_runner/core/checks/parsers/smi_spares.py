"""What nvidia-smi's XML says of a GPU's spare memory: what was replaced, and what is left to replace with."""

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass

from fleet_runner.core.checks.parsers.smi_fields import tally

BANKS = ("max", "high", "partial", "low", "none")
"""How many of a bank's spare rows are left, from all to none (NVIDIA's memory error management)."""

SOURCES = ("sram_l2", "sram_sm", "sram_microcontroller", "sram_pcie", "sram_other")


@dataclass(frozen=True, slots=True)
class Spares:
    """Lifetime counts; None where the tool gives none.

    `retired` are pages taken out of use, before Ampere. `corrected` and `uncorrected` are rows that were remapped
    after an error of that kind; `banks` counts banks by what is left of their spare rows, empty where it is not told.
    `sram_sources` says in which units SRAM met errors that it could not correct.
    """

    retired: int | None
    corrected: int | None
    uncorrected: int | None
    banks: Mapping[str, int]
    sram_sources: Mapping[str, int]


def read(element: ET.Element) -> Spares:
    """Read a GPU's spares; what is no count is not told."""
    pages = [
        tally(element, f"retired_pages/{kind}_retirement/retired_count")
        for kind in ("multiple_single_bit", "double_bit")
    ]
    told = [count for count in pages if count is not None]
    rows = "remapped_rows/row_remapper_histogram/row_remapper_histogram"
    sources = "ecc_errors/aggregate_uncorrectable_sram_sources"
    return Spares(
        retired=sum(told) if told else None,
        corrected=tally(element, "remapped_rows/remapped_row_corr"),
        uncorrected=tally(element, "remapped_rows/remapped_row_unc"),
        banks=_counts(element, rows + "_", BANKS),
        sram_sources=_counts(element, sources + "/", SOURCES),
    )


def _counts(element: ET.Element, path: str, names: tuple[str, ...]) -> dict[str, int]:
    found = {name: tally(element, f"{path}{name}") for name in names}
    return {name: count for name, count in found.items() if count is not None}

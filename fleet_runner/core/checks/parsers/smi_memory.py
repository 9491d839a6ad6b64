"""What nvidia-smi's XML says of a GPU's memory: its errors, and the repairs that wait or failed."""

import xml.etree.ElementTree as ET
from dataclasses import dataclass

from fleet_runner.core.checks.parsers.smi_fields import flag, integer, switch, tally

UNCORRECTABLE = ("dram_uncorrectable", "sram_uncorrectable", "sram_uncorrectable_parity", "sram_uncorrectable_secded")
"""From Ampere on; before it, `double_bit/total`."""


@dataclass(frozen=True, slots=True)
class Memory:
    """Errors of a GPU's memory; None where the tool gives no value (MIG, an older GPU).

    `uncorrectable` counts what could not be corrected since the driver was loaded; `sram_parity` and `sram_secded`
    are lifetime totals over all banks, and `sram_over_threshold` is the GPU's own word about its banks. Before Ampere
    pages are retired (`retirement_pending`), later rows are remapped, and on the newest whole channels and cores are
    repaired: all of it takes hold with the next reset.
    """

    remap_pending: bool | None
    remap_failed: bool | None
    uncorrectable: int | None
    sram_parity: int | None
    sram_secded: int | None
    sram_over_threshold: bool | None
    retirement_pending: bool | None = None
    repair_pending: bool | None = None
    unrepairable: bool | None = None


def read(element: ET.Element) -> Memory:
    """Read a GPU's memory; EvidenceError for a flag or a count that is none."""
    volatile = [integer(element, f"ecc_errors/volatile/{name}") for name in UNCORRECTABLE]
    volatile.append(tally(element, "ecc_errors/volatile/double_bit/total"))
    told = [count for count in volatile if count is not None]
    repairs = [switch(element, f"ecc_errors/{what}_repair_pending") for what in ("channel", "tpc")]
    return Memory(
        remap_pending=flag(element, "remapped_rows/remapped_row_pending"),
        remap_failed=flag(element, "remapped_rows/remapped_row_failure"),
        uncorrectable=sum(told) if told else None,
        sram_parity=integer(element, "ecc_errors/aggregate/sram_uncorrectable_parity"),
        sram_secded=integer(element, "ecc_errors/aggregate/sram_uncorrectable_secded"),
        sram_over_threshold=flag(element, "ecc_errors/aggregate/sram_threshold_exceeded"),
        retirement_pending=switch(element, "retired_pages/pending_retirement", "retired_pages/pending_blacklist"),
        repair_pending=True if True in repairs else next((each for each in repairs if each is not None), None),
        unrepairable=switch(element, "ecc_errors/unrepairable_memory"),
    )

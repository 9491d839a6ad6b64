"""Errors that AMD's GPUs count themselves (RAS), by block, and pages of their memory that are bad.

`amd-smi metric` counts since the driver was loaded; `static` knows, asked as root, whether there are more bad pages
than the driver's limit (from ROCm 7.0.2 on); `bad-pages` lists them: retired, to be retired, or not to be retired.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.amd_smi import Fields, address, count, gpus, index, is_partition, part, word

MEMORY = "UMC"
"""The block of the memory controllers; the others are logic and on-chip memory."""

NO_PAGES = "No bad pages found."

COUNTS = ("correctable_count", "uncorrectable_count", "deferred_count")


@dataclass(frozen=True, slots=True)
class Pages:
    """Bad pages of a GPU's memory, None where they are not told; `most` is the driver's limit, None where unknown."""

    retired: int | None
    pending: int | None
    unreservable: int | None
    most: int | None
    exceeded: bool | None


@dataclass(frozen=True, slots=True)
class Errors:
    """Errors of one GPU by block: corrected, uncorrectable, and deferred (found where nothing had used them yet)."""

    pci: str
    corrected: Mapping[str, int]
    uncorrectable: Mapping[str, int]
    deferred: Mapping[str, int]
    told: bool
    pages: Pages


def parse(static: str, metric: str, bad_pages: str) -> tuple[Errors, ...]:
    """Return the errors of each GPU, in the tool's order; EvidenceError where `static` or `metric` is no report.

    `bad_pages` only says more: where it is none, pages are not told.
    """
    measured = {index(row, "metric"): row for row in gpus(metric, "metric")}
    try:
        pages = {index(row, "bad-pages"): row for row in gpus(bad_pages, "bad-pages")}
    except EvidenceError:
        pages = {}
    return tuple(
        _errors(row, measured.get(index(row, "static"), {}), pages.get(index(row, "static"), {}))
        for row in gpus(static, "static")
        if not is_partition(row)
    )


def _errors(row: Fields, metric: Fields, pages: Fields) -> Errors:
    blocks = part(metric, "ecc_blocks")
    corrected, uncorrectable, deferred = (_by_block(blocks, name) for name in COUNTS)
    ras = part(row, "ras")
    said = word(ras.get("bad_page_threshold_exceeded"))
    return Errors(
        pci=address(row),
        corrected=corrected,
        uncorrectable=uncorrectable,
        deferred=deferred,
        told=bool(corrected) or bool(uncorrectable),
        pages=Pages(
            retired=_pages(pages.get("retired")),
            pending=_pages(pages.get("pending")),
            unreservable=_pages(pages.get("un_res")),
            most=count(ras.get("bad_page_threshold")),
            exceeded={"true": True, "false": False}.get((said or "").lower()),
        ),
    )


def _by_block(blocks: Fields, name: str) -> dict[str, int]:
    told = {block: count(part(blocks, block).get(name)) for block in blocks}
    return {block[:20].upper(): number for block, number in told.items() if number is not None}


def _pages(told: object) -> int | None:
    """Count a list of pages; the tool writes a single one without its list, and none as a sentence."""
    if told == NO_PAGES:
        return 0
    if isinstance(told, dict):
        return 1
    return len(told) if isinstance(told, list) else None

"""`nvidia-smi -q` as plain text: the fields that checks judge, put into the elements of its XML report.

Only what tells of a GPU's memory, recovery and being there is carried over; a field that is not, is not told.
"""

import re
from html import escape

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.nvidia_smi import MAX_GPUS

HEAD = "==============NVSMI LOG=============="

_GPU = re.compile(r"GPU ([0-9A-Fa-f]{8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7])[ \t]*")
_FIELD = re.compile(r"(?P<blank> *)(?P<name>[A-Za-z][^:\n]{0,60}?)(?: *: (?P<value>[^\n]{0,200})| *:?)")
_ATTACHED = re.compile(r"^Attached GPUs {1,60}: (\d{1,3})[ \t]*$", re.MULTILINE)

FIELDS: dict[tuple[str, ...], str] = {
    ("Product Name",): "product_name",
    ("Serial Number",): "serial",
    ("GPU UUID",): "uuid",
    ("GPU Recovery Action",): "gpu_recovery_action",
    ("GPU Reset Status", "Reset Required"): "gpu_reset_status/reset_required",
    ("GPU Reset Status", "Drain and Reset Recommended"): "gpu_reset_status/drain_and_reset_recommended",
    ("ECC Errors", "Volatile", "SRAM Uncorrectable"): "ecc_errors/volatile/sram_uncorrectable",
    ("ECC Errors", "Volatile", "SRAM Uncorrectable Parity"): "ecc_errors/volatile/sram_uncorrectable_parity",
    ("ECC Errors", "Volatile", "SRAM Uncorrectable SEC-DED"): "ecc_errors/volatile/sram_uncorrectable_secded",
    ("ECC Errors", "Volatile", "DRAM Uncorrectable"): "ecc_errors/volatile/dram_uncorrectable",
    ("ECC Errors", "Volatile", "Double Bit", "Total"): "ecc_errors/volatile/double_bit/total",
    ("ECC Errors", "Aggregate", "SRAM Uncorrectable Parity"): "ecc_errors/aggregate/sram_uncorrectable_parity",
    ("ECC Errors", "Aggregate", "SRAM Uncorrectable SEC-DED"): "ecc_errors/aggregate/sram_uncorrectable_secded",
    ("ECC Errors", "Aggregate", "SRAM Threshold Exceeded"): "ecc_errors/aggregate/sram_threshold_exceeded",
    ("ECC Errors", "Channel Repair Pending"): "ecc_errors/channel_repair_pending",
    ("ECC Errors", "TPC Repair Pending"): "ecc_errors/tpc_repair_pending",
    ("ECC Errors", "Unrepairable Memory"): "ecc_errors/unrepairable_memory",
    ("Retired Pages", "Single Bit ECC"): "retired_pages/multiple_single_bit_retirement/retired_count",
    ("Retired Pages", "Double Bit ECC"): "retired_pages/double_bit_retirement/retired_count",
    ("Retired Pages", "Pending Page Blacklist"): "retired_pages/pending_retirement",
    ("Retired Pages", "Pending Retirement"): "retired_pages/pending_retirement",
    ("Remapped Rows", "Correctable Error"): "remapped_rows/remapped_row_corr",
    ("Remapped Rows", "Uncorrectable Error"): "remapped_rows/remapped_row_unc",
    ("Remapped Rows", "Pending"): "remapped_rows/remapped_row_pending",
    ("Remapped Rows", "Remapping Failure Occurred"): "remapped_rows/remapped_row_failure",
    **{
        ("Remapped Rows", "Bank Remap Availability Histogram", name): (
            f"remapped_rows/row_remapper_histogram/row_remapper_histogram_{name.lower()}"
        )
        for name in ("Max", "High", "Partial", "Low", "None")
    },
}
"""Fields by the headings above them, and where the XML report has them."""

_END = "Temperature"
"""The heading behind the fields that are judged: a GPU that was cut before it is not whole."""


def xml(text: str) -> str:
    """Return the report as its XML, with the fields above; EvidenceError where a GPU is not described whole."""
    lines = text.split("\n")
    starts = [index for index, line in enumerate(lines) if _GPU.fullmatch(line)]
    if not starts or len(starts) > MAX_GPUS:
        raise EvidenceError(f"nvidia-smi -q describes {len(starts)} GPUs, expected 1 to {MAX_GPUS}; is it whole?")
    gpus = [_gpu(lines[start:end]) for start, end in zip(starts, [*starts[1:], len(lines)], strict=True)]
    attached = _ATTACHED.search(text)
    count = f"<attached_gpus>{attached[1]}</attached_gpus>" if attached is not None else ""
    return f"<nvidia_smi_log>{count}{''.join(gpus)}</nvidia_smi_log>"


def _gpu(lines: list[str]) -> str:
    """Return one GPU's element; which heading a field is under is told by how far it is indented."""
    address = lines[0].split()[1]
    found: dict[str, str] = {}
    above: list[tuple[int, str]] = []
    ended = False
    for line in lines[1:]:
        field = _FIELD.fullmatch(line.expandtabs(4).rstrip())
        if field is None:
            continue
        indent, name = len(field["blank"]), field["name"].strip()
        while above and above[-1][0] >= indent:
            above.pop()
        path = (*(each for _, each in above), name)
        if field["value"] is None:
            above.append((indent, name))
            ended = ended or path == (_END,)
        elif path in FIELDS:
            found.setdefault(FIELDS[path], field["value"].strip())
    ended = (
        ended or "remapped_rows/remapped_row_failure" in found
    )  # the last that is judged: -d may leave the rest out
    if not ended and "lost" not in found.get("product_name", "").lower():
        raise EvidenceError(f"nvidia-smi -q has GPU {address} up to its errors at most; was it cut short?")
    return f'<gpu id="{escape(address)}">{_elements(found)}</gpu>'


def _elements(found: dict[str, str]) -> str:
    """Return elements within elements of "a/b": value."""
    tops: dict[str, dict[str, str]] = {}
    text = ""
    for path, value in found.items():
        top, _, rest = path.partition("/")
        if rest:
            tops.setdefault(top, {})[rest] = value
        else:
            text += f"<{top}>{escape(value)}</{top}>"
    return text + "".join(f"<{top}>{_elements(inner)}</{top}>" for top, inner in tops.items())

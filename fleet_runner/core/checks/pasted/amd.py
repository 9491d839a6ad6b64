"""What `amd-smi` printed of AMD's GPUs, pasted: its reports are joined by the GPU's number, and judged together."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.base.plural import counted
from fleet_runner.core.checks.parsers import amd_smi, amd_text
from fleet_runner.core.checks.parsers.amd_text import Row
from fleet_runner.core.checks.pasted import documents
from fleet_runner.core.checks.pasted.told import Part

NAME = "amd-smi"

KINDS = {
    "amd_smi_static": ("asic", "bus", "board", "ras"),
    "amd_smi_metric": ("ecc", "ecc_blocks"),
    "amd_smi_bad_pages": ("retired", "pending", "un_res"),
}
"""What a row of each report has, of which one key is enough; `metric` and `static` may be told in part."""

UNUSED = {"amd_smi_process": "[]", "kfd_processes": "{}"}
"""Who uses the GPUs, which is read with what they are, and decides nothing of their errors."""

COUNTS = ("uncorrectable_count", "deferred_count")


def reports(text: str, node: str) -> Part:
    """Judge the reports of one node; what cannot be judged is said in `unsure`."""
    try:
        told = list(amd_text.rows(text))
        found = {kind: _by_number(told, kind, keys) for kind, keys in KINDS.items()}
    except EvidenceError as error:
        return Part(NAME, unsure=(f"amd-smi on {node}: {error}",))
    static, metric, pages = found.values()
    gpus = len(static or metric or pages)
    if not gpus:
        few = f"of what amd-smi and rocm-smi print on {node}, errors are read alone: paste `amd-smi static`,"
        return Part("amd-smi, rocm-smi", unsure=(f"{few} `amd-smi metric` and `amd-smi bad-pages`",))
    name = f"{NAME} of {counted(gpus, 'GPU')}"
    if any("bdf" not in amd_smi.part(row, "bus") for row in (static or {0: {}}).values()):
        return Part(name, unsure=tuple(_unnamed(metric, pages, node)) or (_more(node, "static"),))
    readings = {kind: json.dumps(list(rows.values())) for kind, rows in found.items()}
    result = documents.run("gpu_errors", readings | UNUSED, node, {"parts": {"gpu": {"maker": "AMD"}}})
    part = documents.judged(name, [result], text, node)
    return part if metric else replace(part, unsure=(_more(node, "metric"),))


def _by_number(rows: Iterable[Row], kind: str, keys: tuple[str, ...]) -> dict[int, Row]:
    """Return the rows of a report by the number of their GPU; parts of one report are joined.

    Raises:
        EvidenceError: a GPU's row says two things under one key: it is of two nodes, or of two times.
    """
    found: dict[int, Row] = {}
    for row in rows:
        if not any(key in row for key in keys):
            continue
        before = found.setdefault(row["gpu"], {})
        twice = next((key for key in row if key in before and before[key] != row[key]), None)
        if twice is not None:
            what = f"GPU {row['gpu']} is described twice ({twice[:40]!r} differs)"
            raise EvidenceError(f"{what}; give {kind.removeprefix('amd_smi_')} of each node and time as its own file")
        before |= row
    return found


def _unnamed(metric: Mapping[int, Row], pages: Mapping[int, Row], node: str) -> Iterable[str]:
    """Say what is bad of GPUs of which only a number is known."""
    which = "; `amd-smi static` beside it says which GPU that is"
    for gpu, row in metric.items():
        blocks = amd_smi.part(row, "ecc_blocks")
        bad = [
            f"{number} {what.partition('_')[0]} in {block[:20].upper()}"
            for block in blocks
            for what in COUNTS
            if (number := amd_smi.count(amd_smi.part(blocks, block).get(what)))
        ]
        if bad:
            yield f"GPU {gpu} of {node} counts errors since its driver was loaded, {', '.join(bad)}{which}"
    for gpu, row in pages.items():
        if isinstance(row.get("retired"), dict | list):
            count = len(row["retired"]) if isinstance(row["retired"], list) else 1
            yield f"GPU {gpu} of {node} has retired {counted(count, 'bad page')} of memory{which}"


def _more(node: str, command: str) -> str:
    return f"amd-smi on {node}: paste `amd-smi {command}`, too: errors of its GPUs are not told without it"

"""What AMD's GPUs count of their own errors, judged: `gpu_errors` where AMD made them.

The driver resets a GPU by itself where an error asks for it, and retires pages of memory that were bad. A GPU is to
be serviced once the driver has counted more bad pages than its limit.
"""

from collections.abc import Iterator

from fleet_runner.core.checks.answers import about, conclude, text_of, unless_unread
from fleet_runner.core.checks.check import Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import amd_ras
from fleet_runner.core.checks.parsers.amd_ras import MEMORY, Errors
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result

CODES = (
    Code("gpu.bad_pages", (Remedy.TRIAGE,), "AMD: more bad pages of memory than the driver's limit"),
    Code("gpu.bad_pages_kept", (Remedy.WATCH,), "AMD: bad pages of memory that could not be retired"),
    Code("gpu.ras", (Remedy.WATCH,), "AMD: uncorrectable errors outside its memory since the driver was loaded"),
)


def judge(readings: Readings, expected: Expected) -> Result:
    """Look at bad pages first; errors that the driver has dealt with are counted."""
    static, metric = text_of(readings["amd_smi_static"]), text_of(readings["amd_smi_metric"])
    pages = readings.get("amd_smi_bad_pages")
    gpus = amd_ras.parse(static, metric, pages.text if pages is not None and pages.rc == 0 else "")
    findings = [finding for gpu in gpus for finding in _findings(gpu, expected)]
    unread = [f"GPU {gpu.pci} counts no errors of its memory; is its ECC on?" for gpu in gpus if not gpu.told]
    observed = {
        gpu.pci: {
            "uncorrectable": sum(gpu.uncorrectable.values()),
            "corrected": sum(gpu.corrected.values()),
            "deferred": sum(gpu.deferred.values()),
            "bad_pages": gpu.pages.retired,
        }
        for gpu in gpus
    }
    passed = f"{len(gpus)} GPUs: bad pages within the driver's limit, no uncorrectable errors outside their memory"
    return unless_unread(conclude("gpu_errors", findings, passed, {"gpus": observed}), unread)


def _findings(gpu: Errors, expected: Expected) -> Iterator[Finding]:
    name, pages = f"GPU {gpu.pci}", gpu.pages
    over = pages.most is not None and pages.retired is not None and pages.retired > pages.most > 0
    if pages.exceeded or (pages.exceeded is None and over):
        told = f"{pages.retired} bad pages of memory" if pages.retired is not None else "more bad pages of memory"
        limit = f"the driver's limit is {pages.most}" if pages.most is not None else "the driver's limit is exceeded"
        yield about(expected.node, "gpu.bad_pages", name)(
            message=f"{name} has {told}; {limit}",
            remedy=Remedy.TRIAGE,
            steps=(f"Follow AMD's Service Action Guide for bad pages of {name}; the driver itself asks for it.",),
        )
    if pages.unreservable:
        yield about(expected.node, "gpu.bad_pages_kept", name)(
            message=f"{pages.unreservable} bad pages of {name} could not be retired, expected none;"
            " they are in use until the driver is loaded again",
            remedy=Remedy.WATCH,
        )
    memory = gpu.uncorrectable.get(MEMORY, 0)
    if memory:
        yield about(expected.node, "gpu.uncorrectable", name)(
            message=f"{name} had {memory} uncorrectable memory errors since its driver was loaded",
            remedy=Remedy.RECORD,
        )
    logic = {block: count for block, count in gpu.uncorrectable.items() if block != MEMORY and count}
    if logic:
        told = ", ".join(f"{count} in {block}" for block, count in sorted(logic.items()))
        yield about(expected.node, "gpu.ras", name)(
            message=f"{name} had uncorrectable errors since its driver was loaded ({told}), expected none",
            remedy=Remedy.WATCH,
        )

"""How far is every GPU's memory worn: what was taken out of use, and what is left to replace it?"""

from collections.abc import Iterator

from fleet_runner.core.checks.answers import about, conclude, unless_unread
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers.nvidia_smi import Gpu, component
from fleet_runner.core.checks.shared.gpus import answering, described
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.inventory import profile
from fleet_runner.core.inventory.profile import Section

NAME, SECTION = "gpu_retired", "gpu_retired"


def judge(readings: Readings, expected: Expected) -> Result:
    """Hold counts over a GPU's life against the profile's limits; what waits or failed is gpu_errors' matter."""
    section = profile.section(expected.profile, SECTION)
    gpus = answering(readings)
    findings = [finding for gpu in gpus for finding in _findings(gpu, section, expected)]
    unread = [text for gpu in gpus for text in _unread(gpu)]
    observed = {
        gpu.pci: {
            "retired": gpu.spares.retired,
            "corrected": gpu.spares.corrected,
            "uncorrected": gpu.spares.uncorrected,
            "banks": dict(gpu.spares.banks),
            "sram_sources": {name: count for name, count in gpu.spares.sram_sources.items() if count},
        }
        for gpu in gpus
    }
    passed = f"the memory of {len(gpus)} GPUs has spares left in every bank"
    return unless_unread(conclude(NAME, findings, passed, {"gpus": observed}), unread)


def _findings(gpu: Gpu, section: Section, expected: Expected) -> Iterator[Finding]:
    name, spares = described(gpu, expected), gpu.spares
    field = (f"Run a field diagnostic of GPU {gpu.pci}, serial {gpu.serial or 'unknown'}.",)
    pages = section.whole("retired_pages_max")
    if spares.retired is not None and spares.retired > pages:
        yield about(expected.node, "gpu.retired_pages", component(gpu))(
            message=f"{name} has retired {spares.retired} memory pages, expected at most {pages}",
            remedy=Remedy.TRIAGE,
            steps=field,
        )
    rows = section.whole("remapped_uncorrectable_max")
    if spares.uncorrected is not None and spares.uncorrected > rows:
        yield about(expected.node, "gpu.remapped_rows", component(gpu))(
            message=f"{name} has remapped {spares.uncorrected} memory rows after errors that it could not correct,"
            f" expected at most {rows}",
            remedy=Remedy.TRIAGE,
            steps=field,
        )
    empty = spares.banks.get("none", 0)
    if empty:
        yield about(expected.node, "gpu.no_spare_rows", component(gpu))(
            message=f"{empty} memory banks of {name} have no spare row left; a bad row there cannot be remapped",
            remedy=Remedy.WATCH,
        )
    worn = spares.banks.get("low", 0) + spares.banks.get("partial", 0)
    if worn or spares.uncorrected or spares.retired:
        yield about(expected.node, "gpu.worn", component(gpu))(
            message=f"{name}: {spares.uncorrected or 0} rows remapped after uncorrectable errors,"
            f" {spares.retired or 0} pages retired, {worn} banks with few spare rows",
            remedy=Remedy.RECORD,
        )
    met = ", ".join(f"{what.removeprefix('sram_')} {count}" for what, count in spares.sram_sources.items() if count)
    if met:
        yield about(expected.node, "gpu.sram_sources", component(gpu))(
            message=f"the SRAM of {name} had uncorrectable errors in its lifetime, in: {met}", remedy=Remedy.RECORD
        )


def _unread(gpu: Gpu) -> Iterator[str]:
    """A GPU has either rows to remap (from Ampere on) or pages to retire."""
    if gpu.spares.uncorrected is None and gpu.spares.retired is None:
        yield f"{component(gpu)} reports neither remapped rows nor retired pages (with MIG on it never does)"


CHECK = Check(
    name=NAME,
    question="Is every GPU's memory far from worn out?",
    reads=("nvidia_smi",),
    judge=judge,
    section=SECTION,
    codes=(
        Code("gpu.retired_pages", (Remedy.TRIAGE,), "more retired pages than the profile allows (before Ampere)"),
        Code("gpu.remapped_rows", (Remedy.TRIAGE,), "more rows remapped after uncorrectable errors than it allows"),
        Code("gpu.no_spare_rows", (Remedy.WATCH,), "a memory bank without a spare row"),
        Code("gpu.worn", (Remedy.RECORD,), "some rows or pages were replaced"),
        Code("gpu.sram_sources", (Remedy.RECORD,), "where SRAM had uncorrectable errors"),
    ),
    source="NVIDIA's memory error management (row remapping, its histogram of banks); DCGM's limit of 63 retired"
    " pages; azurehpc-health-checks' limit of 512 rows.",
)

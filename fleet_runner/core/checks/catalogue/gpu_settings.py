"""Are the GPUs and their driver set up as the profile says?"""

from collections.abc import Iterator
from typing import NamedTuple

from fleet_runner.core.checks.answers import about, conclude, unless_unread
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers.nvidia_smi import Gpu, Report, component
from fleet_runner.core.checks.parsers.smi_settings import Settings
from fleet_runner.core.checks.shared.gpus import INFOROM_CORRUPTED, answering, described, is_amd, presence
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.inventory import profile
from fleet_runner.core.inventory.profile import Section

NAME, SECTION = "gpu_settings", "gpu_settings"


class Mode(NamedTuple):
    """A setting that is on or off: its key in the profile, its words, what it is, and how it is set."""

    key: str
    what: str
    value: bool | None
    how: str


def modes(settings: Settings) -> tuple[Mode, ...]:
    """Return a GPU's settings that are on or off; a wrong one alone takes no node out of service."""
    confidential = None if settings.confidential_mib is None else settings.confidential_mib > 0
    return (
        Mode("persistence", "persistence mode", settings.persistence, "start nvidia-persistenced"),
        Mode("mig", "MIG", settings.mig, "`nvidia-smi -mig` sets it"),
        Mode("confidential_compute", "confidential computing", confidential, "the host's firmware sets it"),
    )


def judge(readings: Readings, expected: Expected) -> Result:
    """Hold each setting against the profile where it names one; ECC above all: without it errors stay unseen."""
    section = profile.section(expected.profile, SECTION)
    report, gpus = presence(readings), answering(readings)
    unread: list[str] = []
    findings = [*_versions(report, section, expected, unread), *_corrupted(readings, report, expected)]
    findings += _mixed(gpus, expected)
    for gpu in gpus:
        findings += [*_ecc(gpu, section, expected, unread), *_modes(gpu, section, expected, unread)]
        findings += [*_words(gpu, section, expected, unread), *_gsp(gpu, report, expected, unread)]
    observed = {"driver": report.driver, "cuda": report.cuda, "vbios": {gpu.pci: gpu.vbios for gpu in gpus}}
    passed = f"{len(gpus)} GPUs are set up as the profile says, with driver {report.driver}"
    return unless_unread(conclude(NAME, findings, passed, observed), unread)


def _versions(report: Report, section: Section, expected: Expected, unread: list[str]) -> Iterator[Finding]:
    for key, found, what in (("drivers", report.driver, "driver"), ("cuda", report.cuda, "CUDA version")):
        if not section.has(key):
            continue
        if found is None:
            unread.append(f"the GPUs' tool does not report the {what}")
        elif found not in section.texts(key):
            yield about(expected.node, f"gpu.{what.split()[0].lower()}", "GPU driver")(
                message=f"the {what} is {found:.40}, expected {' or '.join(section.texts(key))};"
                " correct the image or the profile",
                remedy=Remedy.REFLASH,
                steps=("Provision the node with the image that the release names.",),
            )


def _corrupted(readings: Readings, report: Report, expected: Expected) -> Iterator[Finding]:
    warned = not is_amd(readings) and readings["nvidia_smi"].rc == INFOROM_CORRUPTED and not report.corrupted
    for pci in sorted(report.corrupted) or ([""] if warned else []):
        yield about(expected.node, "gpu.inforom", f"GPU {pci}" if pci else "GPUs")(
            message=f"nvidia-smi warns that the InfoROM of {f'GPU {pci}' if pci else 'a GPU'} is corrupted",
            remedy=Remedy.TRIAGE,
            steps=(
                f"Run a field diagnostic of {f'GPU {pci}' if pci else 'every GPU'}.",
                "Send back (RMA) a GPU whose InfoROM cannot be repaired.",
            ),
        )


def _mixed(gpus: tuple[Gpu, ...], expected: Expected) -> Iterator[Finding]:
    """GPUs of one model with several VBIOS: one was replaced, or an update left one out."""
    versions = {(gpu.model, gpu.vbios) for gpu in gpus if gpu.vbios is not None}
    if len(versions) > len({model for model, _ in versions}):
        told = ", ".join(sorted(f"{vbios:.40}" for _, vbios in versions))
        yield about(expected.node, "gpu.vbios_mixed", "GPUs")(
            message=f"the GPUs of {expected.node} run several VBIOS ({told:.200}), expected one",
            remedy=Remedy.WATCH,
        )


def _ecc(gpu: Gpu, section: Section, expected: Expected, unread: list[str]) -> Iterator[Finding]:
    if not section.has("ecc"):
        return
    wanted, now, then = section.flag("ecc"), gpu.settings.ecc, gpu.settings.ecc_pending
    words = "on" if wanted else "off"
    if now is None:
        unread.append(f"{component(gpu)} does not report whether its ECC is on")
    elif now is not wanted and then is wanted:
        yield about(expected.node, "gpu.ecc_pending", component(gpu))(
            message=f"the ECC of {described(gpu, expected)} will be {words} after a reboot, expected {words} now",
            remedy=Remedy.REBOOT,
        )
    elif now is not wanted or then is (not wanted):
        state = f"will not be {words} after the next reboot" if now is wanted else f"is not {words}"
        yield about(expected.node, "gpu.ecc", component(gpu))(
            message=f"the ECC of {described(gpu, expected)} {state}, expected {words}",
            remedy=Remedy.TRIAGE,
            steps=(_ecc_set(gpu, expected, on=wanted),),
        )


def _ecc_set(gpu: Gpu, expected: Expected, *, on: bool) -> str:
    if profile.gpu_maker(expected.profile) == "AMD":
        return f"Compare the driver's `ras_enable`, the BIOS and the firmware of GPU {gpu.pci} with another node's."
    return f"Set it (`nvidia-smi -i {gpu.pci} -e {int(on)}`), then reboot the node."


def _modes(gpu: Gpu, section: Section, expected: Expected, unread: list[str]) -> Iterator[Finding]:
    for mode in modes(gpu.settings):
        if not section.has(mode.key):
            continue
        wanted = section.flag(mode.key)
        if mode.value is None:
            unread.append(f"{component(gpu)} does not report its {mode.what}")
        elif mode.value is not wanted:
            yield about(expected.node, f"gpu.{mode.key}", component(gpu))(
                message=f"{mode.what} of {described(gpu, expected)} is {'on' if mode.value else 'off'},"
                f" expected {'on' if wanted else 'off'}; {mode.how}",
                remedy=Remedy.WATCH,
            )


def _words(gpu: Gpu, section: Section, expected: Expected, unread: list[str]) -> Iterator[Finding]:
    """Hold settings that are words; firmware off its pin waits for a rollout, a mode is only watched."""
    settings = gpu.settings
    for key, found, remedy in (
        ("vbios", gpu.vbios, Remedy.REFLASH),
        ("inforom_image", settings.inforom_image, Remedy.REFLASH),
        ("compute_mode", settings.compute_mode, Remedy.WATCH),
        ("addressing_mode", settings.addressing_mode, Remedy.WATCH),
        ("compute_partition", settings.compute_partition, Remedy.WATCH),
        ("memory_partition", settings.memory_partition, Remedy.WATCH),
    ):
        if not section.has(key):
            continue
        what = key.replace("_", " ")
        if found is None:
            unread.append(f"{component(gpu)} does not report its {what}")
        elif found not in section.texts(key):
            yield about(expected.node, f"gpu.{key}", component(gpu))(
                message=f"{what} of {described(gpu, expected)} is {found:.40},"
                f" expected {' or '.join(section.texts(key))}",
                remedy=remedy,
                steps=(f"Flash GPU {gpu.pci} with the release's firmware.",) if remedy is Remedy.REFLASH else (),
            )


def _gsp(gpu: Gpu, report: Report, expected: Expected, unread: list[str]) -> Iterator[Finding]:
    """A GPU's system processor gets its firmware from the driver: another version is an update half done."""
    section = profile.section(expected.profile, SECTION)
    if not section.has("gsp_firmware"):
        return
    on, found = section.flag("gsp_firmware"), gpu.settings.gsp_firmware
    if on and (found is None or report.driver is None):
        unread.append(f"{component(gpu)} does not report its system processor's firmware")
    elif found != (report.driver if on else None):
        yield about(expected.node, "gpu.gsp_firmware", component(gpu))(
            message=f"the system processor of {described(gpu, expected)} runs {found or 'nothing':.40},"
            f" expected {report.driver if on else 'nothing':.40}; a reboot loads it again",
            remedy=Remedy.REBOOT,
        )


CHECK = Check(
    name=NAME,
    question="Are the GPUs and their driver set up as the profile says?",
    reads=("nvidia_smi",),
    judge=judge,
    section=SECTION,
    codes=(
        Code("gpu.driver", (Remedy.REFLASH,), "a driver that the profile does not name"),
        Code("gpu.cuda", (Remedy.REFLASH,), "a CUDA version that the profile does not name"),
        Code("gpu.vbios", (Remedy.REFLASH,), "a VBIOS that the profile does not name"),
        Code("gpu.vbios_mixed", (Remedy.WATCH,), "several VBIOS among GPUs of one model"),
        Code("gpu.inforom_image", (Remedy.REFLASH,), "an InfoROM image that the profile does not name"),
        Code("gpu.inforom", (Remedy.TRIAGE,), "nvidia-smi warns of a corrupted InfoROM"),
        Code("gpu.gsp_firmware", (Remedy.REBOOT,), "the system processor does not run the firmware it should"),
        Code("gpu.ecc", (Remedy.TRIAGE,), "ECC is not as the profile says, or will not be after a reboot"),
        Code("gpu.ecc_pending", (Remedy.REBOOT,), "ECC will be as the profile says after a reboot"),
        Code("gpu.persistence", (Remedy.WATCH,), "persistence mode is not as the profile says"),
        Code("gpu.mig", (Remedy.WATCH,), "MIG is not as the profile says"),
        Code("gpu.compute_mode", (Remedy.WATCH,), "the compute mode is not as the profile says"),
        Code("gpu.addressing_mode", (Remedy.WATCH,), "the addressing mode is not as the profile says"),
        Code("gpu.compute_partition", (Remedy.WATCH,), "an AMD GPU is not split as the profile says (SPX, DPX, CPX)"),
        Code("gpu.memory_partition", (Remedy.WATCH,), "its memory is not split as the profile says (NPS1, NPS4)"),
        Code("gpu.confidential_compute", (Remedy.WATCH,), "confidential computing is not as the profile says"),
    ),
    source="nvidia-smi's manual (modes, exit status 14 for a corrupted InfoROM); DCGM counts persistence mode as"
    " configuration, which must not drain a node.",
)

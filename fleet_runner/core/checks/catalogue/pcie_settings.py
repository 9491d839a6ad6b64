"""Are PCIe's switches and adapters set so that GPUs and adapters reach each other directly, and fast?

Access Control Services lead traffic between two devices up to the root and back, where the path is narrow. What a
virtualised node needs, it costs.
"""

from collections.abc import Iterator

from fleet_runner.core.checks.answers import about, conclude, text_of, unless_unread
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import lspci
from fleet_runner.core.checks.parsers.lspci import BRIDGE, Set
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.inventory.profile import Section, section

NAME = "pcie_settings"

MOST_NAMED = 8


def judge(readings: Readings, expected: Expected) -> Result:
    """Hold bridges and the profile's adapters against it; what only root sees is unread for others."""
    wanted = section(expected.profile, NAME)
    every = lspci.parse(text_of(readings["lspci"]))
    bridges = [each for each in every if each.kind == BRIDGE]
    ids = wanted.texts("ids") if wanted.has("ids") else ()
    adapters = [each for each in every if each.id in ids]
    findings = [*_steered(bridges, wanted, expected.node)]
    findings += [finding for each in adapters for finding in _adapter(each, wanted, expected.node)]
    unread = [text for each in adapters for text in _unread(each, wanted)]
    if wanted.has("acs") and not any(each.steered is not None for each in bridges):
        unread.append("lspci shows the access controls (ACSCtl) of no bridge; was it run by root?")
    if ids and not adapters:
        unread.append(f"lspci lists no device {' or '.join(ids)}")
    observed = {"bridges": len(bridges), "adapters": len(adapters)}
    passed = f"{len(bridges)} bridges and {len(adapters)} adapters are set as the profile says"
    return unless_unread(conclude(NAME, findings, passed, observed), unread)


def _steered(bridges: list[Set], wanted: Section, node: str) -> Iterator[Finding]:
    if not wanted.has("acs") or wanted.flag("acs"):
        return
    on = [each for each in bridges if each.steered]
    if on:
        named = ", ".join(each.pci for each in on[:MOST_NAMED]) + (" …" if len(on) > MOST_NAMED else "")
        yield about(node, "pcie.acs", "PCIe bridges")(
            message=f"access controls (ACS) are on at {len(on)} bridges, expected off: {named};"
            " look at the BIOS settings for ACS and IOMMU, or switch them off with setpci at each boot",
            remedy=Remedy.REFLASH,
        )


def _adapter(each: Set, wanted: Section, node: str) -> Iterator[Finding]:
    for name, value, what in (
        ("read_request_bytes", each.read_request, "reads at most {} bytes at once (MaxReadReq)"),
        ("payload_bytes_min", each.payload, "sends at most {} bytes at once (MaxPayload)"),
    ):
        if wanted.has(name) and value is not None and value < wanted.whole(name):
            yield about(node, "pcie.request" if "request" in name else "pcie.payload", f"PCIe device {each.pci}")(
                message=f"{each.pci} {what.format(value)}, expected {wanted.whole(name)}", remedy=Remedy.REFLASH
            )
    if (
        wanted.has("relaxed_ordering")
        and each.relaxed is not None
        and each.relaxed != wanted.flag("relaxed_ordering")
    ):
        words = {True: "on", False: "off"}
        yield about(node, "pcie.ordering", f"PCIe device {each.pci}")(
            message=f"relaxed ordering is {words[each.relaxed]} at {each.pci}, expected {words[not each.relaxed]}",
            remedy=Remedy.REFLASH,
        )


def _unread(each: Set, wanted: Section) -> Iterator[str]:
    told = {
        "read_request_bytes": each.read_request,
        "payload_bytes_min": each.payload,
        "relaxed_ordering": each.relaxed,
    }
    for name, value in told.items():
        if wanted.has(name) and value is None:
            yield f"lspci does not show what {NAME}.{name} asks about {each.pci}; was it run by root?"


CHECK = Check(
    name=NAME,
    question="Are PCIe bridges and adapters set so that GPUs and adapters reach each other directly?",
    reads=("lspci",),
    judge=judge,
    section=NAME,
    codes=(
        Code("pcie.acs", (Remedy.REFLASH,), "access controls are on at bridges though `pcie_settings.acs` is false"),
        Code("pcie.request", (Remedy.REFLASH,), "MaxReadReq below `pcie_settings.read_request_bytes`"),
        Code("pcie.payload", (Remedy.REFLASH,), "MaxPayload below `pcie_settings.payload_bytes_min`"),
        Code("pcie.ordering", (Remedy.REFLASH,), "relaxed ordering is not as `pcie_settings.relaxed_ordering`"),
    ),
    source="NVIDIA's NCCL and GPUDirect documents ask for ACS off on bare metal; gpud looks at it likewise.",
)

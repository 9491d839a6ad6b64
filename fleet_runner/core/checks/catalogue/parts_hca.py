"""Are the InfiniBand adapters that were bought in the node, and are they these very ones?"""

from collections.abc import Mapping, Sequence

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.answers import about, conclude, text_of
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import ibstat
from fleet_runner.core.checks.parsers.ibstat import Hca
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.inventory import profile


def judge(readings: Readings, expected: Expected) -> Result:
    """Hold the profile's HCAs against what ibstat reports, and their port GUIDs against the source of truth.

    Whether a port's link is up is the cabling's question, not this one's.
    """
    wanted = profile.parts(expected.profile, "hca")
    rails = profile.hca_interfaces(expected.profile)
    guids = _guids(expected.device)
    hcas = _report(readings)
    fabric = [hca for hca in hcas if hca.link_layer == "InfiniBand" or hca.name in rails]
    known = {hca.name: hca for hca in fabric}
    missing = [name for name in rails if name not in known]
    findings = [_missing(name, rails[name], expected) for name in missing]
    if not missing and len(fabric) < wanted.count:
        findings = [_short(len(fabric), wanted.count, expected.node)]
    findings += [
        _other(known[name], guids[interface], interface, expected.node)
        for name, interface in rails.items()
        if name in known and guids.get(interface) not in {None, known[name].guid}
    ]
    observed = {
        "hcas": len(fabric),
        "expected": wanted.count,
        "guids": {hca.name: hca.guid for hca in fabric},
        "firmware": {hca.name: hca.firmware for hca in fabric},
    }
    return conclude("parts_hca", findings, f"{len(fabric)} of {wanted.count} HCAs are present", observed)


def _report(readings: Readings) -> Sequence[Hca]:
    """Two lists that name different HCAs: one of them was cut, and neither can be believed."""
    hcas = ibstat.parse(text_of(readings["ibstat"]))
    listed = ibstat.names(text_of(readings["ibstat_list"]))
    described = sorted(hca.name for hca in hcas)
    if described != sorted(listed):
        both = [", ".join(names) or "nothing" for names in (described, listed)]
        raise EvidenceError(f"ibstat describes {both[0]} but lists {both[1]}; check again")
    if not hcas:
        raise EvidenceError("ibstat knows no HCA at all; is the InfiniBand driver loaded?")
    return hcas


def _guids(device: Mapping[str, object]) -> dict[str, str]:
    """Return the port GUIDs that the source of truth knows, by interface."""
    rows = device.get("interfaces", ())
    if not isinstance(rows, list | tuple) or not all(isinstance(row, Mapping) for row in rows):
        raise EvidenceError(f"fleet_device.interfaces: found {rows!r:.80}, expected a list; look at the inventory")
    return {str(row.get("name")): str(row["guid"]).lower() for row in rows if row.get("guid")}


def _missing(name: str, interface: str, expected: Expected) -> Finding:
    parts = {part.slot: part for part in profile.device_parts(expected.device, "hca")}
    part = parts.get(name) or parts.get(interface)
    which = f"{part.model or 'model unknown'}, serial {part.serial or 'unknown'}" if part else "serial unknown"
    return about(expected.node, "hca.missing", name)(
        message=f"HCA {name} ({interface}, {which}) is not in the node",
        remedy=Remedy.TRIAGE,
        steps=(
            f"Power the node off and find the HCA of {interface} ({which}).",
            "Reseat it and its power; if another HCA sits there, correct its serial and GUID in the source of truth.",
        ),
    )


def _short(count: int, wanted: int, node: str) -> Finding:
    return about(node, "hca.missing", "HCAs")(
        message=f"{count} of {wanted} HCAs are present",
        remedy=Remedy.TRIAGE,
        steps=("Compare the HCAs that lspci shows with the order.", "Reseat the one that is missing."),
    )


def _other(hca: Hca, guid: str, interface: str, node: str) -> Finding:
    """A replaced HCA nobody wrote down: the record or the node is wrong, and neither makes it unfit to serve."""
    return about(node, "hca.guid", hca.name)(
        message=f"HCA {hca.name} ({interface}) has port GUID {hca.guid}, the source of truth says {guid}",
        remedy=Remedy.WATCH,
        steps=("Read the HCA's GUID on its label.", "Correct the source of truth, or put the right HCA back."),
    )


CHECK = Check(
    name="parts_hca",
    question="Are all InfiniBand adapters that should be in the node there, with the known GUIDs?",
    reads=("ibstat", "ibstat_list"),
    judge=judge,
    codes=(
        Code(
            "hca.missing",
            (Remedy.TRIAGE,),
            "an adapter of the profile's `hca_interfaces`, or of their number, is missing",
        ),
        Code("hca.guid", (Remedy.WATCH,), "an adapter has another port GUID than the source of truth says"),
    ),
    source="The profile's `parts.hca` and `hca_interfaces`, and the source of truth's GUIDs.",
)

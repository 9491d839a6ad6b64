"""Is an NVLink domain one machine? What all of its compute trays say, joined: clusters, partitions, links and IMEX.

One tray sees its own GPUs, and its own checks judge them. Only together they tell a lost switch tray from 72 bad
GPUs, or a tray that sits in the wrong rack.
"""

from collections.abc import Iterator, Mapping

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.base.plural import counted
from fleet_runner.core.checks.answers import about, conclude, text_of, unless_unread
from fleet_runner.core.checks.catalogue.gpu_fabric import JOINED
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import nvlink_trays
from fleet_runner.core.checks.parsers.nvlink_trays import Tray, TrayGpu
from fleet_runner.core.checks.verdicts import UNSURE, Finding, Remedy, Result
from fleet_runner.core.inventory import profile
from fleet_runner.core.nvlink import imex, partitions, switch_trays
from fleet_runner.core.nvlink.common_cause import COMMON
from fleet_runner.core.nvlink.lost_links import Lost, lost
from fleet_runner.core.nvlink.partitions import Place
from fleet_runner.core.nvlink.trouble import Trouble, named

NAME = "fabric_nvlink"

OF_IMEX = ("imex_", "addresses")
"""How sentences begin that say what of IMEX could not be read: elsewhere nobody asks for it."""


def judge(readings: Readings, expected: Expected) -> Result:
    """FAIL for what is wrong with the domain; UNKNOWN for a tray that was asked and did not tell."""
    told = nvlink_trays.parse(text_of(readings["nvlink_trays"]))
    design = tuple(str(name) for name in expected.device.get("trays", ()))
    trays = {name: told[name] for name in design if name in told and told[name].gpus}
    if not trays:
        why = "; ".join(f"{name}: {named(tray.unread, 1)}" for name, tray in sorted(told.items())[:3])
        raise EvidenceError(f"no compute tray could be read: {why or 'none is in service'}")
    silent = [name for name in design if name not in trays]
    places = {name: place for name, tray in trays.items() if (place := _place(tray)) is not None}
    parts, missing = _lost(trays, len(design))
    wide = _domain_wide(expected, trays)
    services = imex.compare(trays, len(silent)) if wide else imex.Comparison(())
    troubles = [
        *partitions.compare(places, expected.device.get("partitions", {}), len(design)),
        *switch_trays.explained(parts, _design_links(expected)),
        *imex.differing(
            {name: tray.driver for name, tray in trays.items() if tray.driver}, "nvlink.driver", "driver"
        ),
        *services.troubles,
    ]
    unread = [
        f"{name}: {why}"
        for name in design
        if name in told
        for why in told[name].unread
        if wide or not why.startswith(OF_IMEX)
    ]
    unread += [
        *services.unread,
        *missing,
        *(f"{name}: its GPUs have not all joined one partition" for name in trays if name not in places),
    ]
    unread += [f"the source of truth: {gap}" for gap in expected.device.get("gaps", ())]
    common = sorted({name for each in parts if each.part in switch_trays.COMMON for name in each.trays})
    observed = {
        "trays": len(design),
        "read": len(trays),
        "places": {name: list(place) for name, place in places.items()},
        "drivers": {name: tray.driver for name, tray in trays.items()},
        COMMON: common,
        UNSURE: [name for name in design if name in told and name not in trays],
    }
    findings = [_finding(expected.node, each) for each in troubles]
    return unless_unread(conclude(NAME, findings, _passed(trays, places, silent), observed), unread)


def _place(tray: Tray) -> Place | None:
    """Return where all GPUs of a tray lie; None where they do not say, or not the same."""
    found = {
        Place(gpu.cluster, gpu.clique) for gpu in tray.gpus if gpu.state == JOINED and gpu.cluster and gpu.clique
    }
    return found.pop() if len(found) == 1 and all(gpu.state == JOINED for gpu in tray.gpus) else None


def _lost(trays: Mapping[str, Tray], count: int) -> tuple[tuple[Lost, ...], list[str]]:
    """Return what is behind lost links, and of which trays their links are not known."""
    known = {name: tray for name, tray in trays.items() if all(_tells(gpu) for gpu in tray.gpus)}
    gpus = [gpu for tray in known.values() for gpu in tray.gpus]
    every = frozenset(link for gpu in gpus for link in (*(gpu.up or ()), *(gpu.down or ()))) or frozenset({0})
    down = {name: [_down(gpu, every) for gpu in tray.gpus] for name, tray in known.items()}
    sizes = {name: len(gpus) for name, gpus in down.items()}
    most = max(sizes.values(), default=0)
    mute = [f"{name}: its links are not told" for name in trays if name not in known]
    fewer = [f"{name} shows {size} GPUs, other trays {most}" for name, size in sizes.items() if size < most]
    return lost(down, every, count), [*mute, *fewer]


def _tells(gpu: TrayGpu) -> bool:
    return bool(gpu.dead or gpu.up or gpu.down)


def _down(gpu: TrayGpu, every: frozenset[int]) -> frozenset[int]:
    return every if gpu.dead else frozenset(gpu.down or ())


def _design_links(expected: Expected) -> dict[str, frozenset[int]]:
    return {name: frozenset(links) for name, links in expected.device.get("nvlinks", {}).items()}


def _domain_wide(expected: Expected, trays: Mapping[str, Tray]) -> bool:
    """Whether the profile of every tray's device type wants IMEX to span the domain all the time."""
    devices = expected.fabric.get("devices", {})
    kinds = {str(devices.get(name, {}).get("device_type", "")) for name in trays}
    return all(_wanted(expected.profiles.get(kind, {})) for kind in kinds)


def _wanted(healthy: profile.Profile) -> bool:
    return profile.has(healthy, "imex") and profile.section(healthy, "imex").flag("domain_wide")


def _finding(domain: str, trouble: Trouble) -> Finding:
    return about(domain, trouble.code, trouble.component)(
        message=trouble.message,
        remedy=Remedy.WATCH if trouble.alone else Remedy.TRIAGE,
        steps=trouble.steps,
        devices=trouble.devices,
    )


def _passed(trays: Mapping[str, Tray], places: Mapping[str, Place], silent: list[str]) -> str:
    gpus = sum(len(tray.gpus) for tray in trays.values())
    cliques = len(set(places.values()))
    words = f"{counted(len(trays), 'compute tray')} with {gpus} GPUs are one NVLink domain"
    words += f" in {cliques} partitions" if cliques > 1 else ""
    return f"{words}; not in service: {named(silent)}" if silent else words


def _codes() -> Iterator[Code]:
    triage, watch = (Remedy.TRIAGE,), (Remedy.WATCH,)
    yield Code("nvlink.cluster", triage, "a tray lies in another NVLink cluster than the others of its domain")
    yield Code("nvlink.partition", triage, "a tray lies in another clique than its designed partition")
    yield Code("nvlink.switch_tray", triage, "the same links are down at every tray: a switch tray is lost")
    yield Code("nvlink.switch_ports", triage, "the same links are down at several trays: ports of a switch tray")
    yield Code("nvlink.tray", watch, "all links of a tray are down; its own checks follow it up")
    yield Code("nvlink.connector", watch, "links of all GPUs of a tray are down; its own checks follow it up")
    yield Code("nvlink.port", watch, "single links of a tray are down; its own checks follow it up")
    yield Code("nvlink.driver", triage, "trays of a domain have different drivers")
    yield Code("imex.inactive", triage, "IMEX does not run on a tray")
    yield Code("imex.config", triage, "the nodes_config.cfg of a tray differs, or names what is no tray")
    yield Code("imex.missing", triage, "a tray is in no other tray's nodes_config.cfg")
    yield Code("imex.not_ready", triage, "an instance is not READY, and no other one is behind it")
    yield Code("imex.version", triage, "instances have different versions")


CHECK = Check(
    name=NAME,
    question="Are the trays of an NVLink domain one machine: one cluster, the designed partitions, all links, IMEX?",
    reads=("nvlink_trays",),
    judge=judge,
    needs_fabric=True,
    codes=tuple(_codes()),
    source="The source of truth's `nvlink_domain`, `nvlink_partition`, `nvlink_links`; the profile's `imex`; NVIDIA's"
    " MNNVL User Guide, IMEX guide (NVLink domain wide) and GB200 NVL Partition User Guide.",
)

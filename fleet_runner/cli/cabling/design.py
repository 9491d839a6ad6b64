"""What should be: from files of cables, from a folder of site files, or from the settings' source of truth."""

import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fleet_runner.cli.cabling import forms
from fleet_runner.cli.cabling.captures import Capture, Neighbours, text
from fleet_runner.cli.cabling.ethernet import Ethernet
from fleet_runner.core.base.errors import FleetError, SourceError
from fleet_runner.core.cabling import ethernet_sweep, extent, lanes, lost_links, uncompared
from fleet_runner.core.cabling.aliases import called, renamed
from fleet_runner.core.cabling.binding import Bound, bind
from fleet_runner.core.cabling.bundles import Bundle, paired
from fleet_runner.core.cabling.design import designed, guids, infiniband, macs, managed, places, planned
from fleet_runner.core.cabling.ethernet_design import EthernetDesign
from fleet_runner.core.cabling.exempt import READY
from fleet_runner.core.cabling.explain import Places
from fleet_runner.core.cabling.fabrics import ETHERNET, Fabric, fabrics
from fleet_runner.core.cabling.judge import SUSPECT_SHARE, Verdicts, hold
from fleet_runner.core.cabling.left_out import LeftOut, left_out
from fleet_runner.core.cabling.links import Link, Port, both_ends
from fleet_runner.core.cabling.names import Names, bind_port, names
from fleet_runner.core.cabling.numbering import numbered
from fleet_runner.core.cabling.roles import is_server, servers
from fleet_runner.core.checks.parsers import names_csv
from fleet_runner.core.checks.parsers.lldp import Neighbour
from fleet_runner.core.checks.parsers.names_csv import Declared
from fleet_runner.core.checks.parsers.neighbours.several import HeardBySwitches
from fleet_runner.core.inventory import ansible, profile
from fleet_runner.core.inventory.records import Fleet

if TYPE_CHECKING:
    from fleet_runner.settings import Settings

NAMED = 3
"""Patch panels that a sentence names."""


@dataclass(frozen=True, slots=True)
class Design:
    """What should be: the links, their names in the fabric, where devices stand, and which fabrics they make.

    `links` and `names` are of InfiniBand. Files of cables do not say what these carry: there `ethernet` has the same.
    `bundles` are links that may be paired otherwise, `panels` patch panels of which nobody says what is behind them.
    `cut` gives the lines of links that may be written only in part.
    """

    links: tuple[Link, ...]
    names: Names
    places: Places
    ethernet: Ethernet
    fabrics: tuple[Fabric, ...] = ()
    share: float = SUSPECT_SHARE
    aliases: Mapping[str, str] = field(default_factory=dict[str, str])
    fleet: Fleet | None = None
    planned: frozenset[Link] = frozenset()
    bundles: tuple[Bundle, ...] = ()
    panels: frozenset[str] = frozenset()
    cut: Mapping[Link, int] = field(default_factory=dict[Link, int])

    def fabric(self, name: str) -> Fabric:
        """Return a fabric by its name, or say which there are."""
        found = next((each for each in self.fabrics if each.name == name), None)
        if found is None:
            known = ", ".join(each.name for each in self.fabrics) or "none: only a site says which fabrics it has"
            raise FleetError(f"no fabric {name!r} in the design; it has {known}")
        return found

    def bound(self, seen: Capture | Neighbours) -> Bound:
        """Return seen links between ports as the design calls them."""
        if isinstance(seen, Neighbours):
            return Bound(dict.fromkeys(self.ethernet.seen(self.heard(seen), seen.learned, self.places), ""))
        found = seen.discovery
        unanswered = [renamed(each, self.aliases) for each in found.unanswered]
        return bind(called(found.links, self.aliases), self.names, unanswered)

    def numbered(self, seen: Capture | Neighbours) -> "Design":
        """Return the design with switches' ports numbered as one look tells, for another look as well."""
        if isinstance(seen, Neighbours):
            return self
        return replace(self, names=numbered(self.names, called(seen.discovery.links, self.aliases)))

    def judge(
        self, seen: Capture | Neighbours, fabric: Fabric | None = None, bound: Bound | None = None
    ) -> tuple[Verdicts, str]:
        """Hold what was seen against the whole design, or against what belongs to one fabric of it.

        The words say what was not looked for; "" if everything was. `bound` is what `bound` returns, if it is known.
        """
        if isinstance(seen, Neighbours) and self.fleet is not None:
            return self._judge_ethernet(seen, fabric)
        observed = bound or self.bound(seen)
        again = observed if isinstance(seen, Capture) else None  # LLDP's ends are told by the links that stay
        if self.cut:
            rest, cut = self._uncut(observed)
            verdicts, words = rest.judge(seen, fabric, again)
            return verdicts, "; ".join(filter(None, [cut, words]))
        if self.fleet is None and (way := self._apart(seen, observed)):
            verdicts, words = way[0].judge(seen, fabric, again)
            return verdicts, "; ".join(filter(None, [panels_words(*way[1:]), words]))
        if isinstance(seen, Neighbours):
            return self._judge_ethernet(seen, fabric)
        if self.bundles:
            links, later = (paired(each, self.bundles, observed.links) for each in (self.links, self.planned))
            return replace(self, links=links, planned=frozenset(later), bundles=()).judge(seen, fabric, again)
        servers = self.places.servers
        near = extent.near(self.links, fabric.switches, observed, servers) if fabric else self.links
        left = self._left_out(near, observed)
        verdicts = hold(left.rest(near), observed, self.places, share=self.share, one_fabric=self.fleet is None)
        if fabric:
            mine = left.rest(extent.own(self.links, fabric.switches))
            verdicts, left = extent.narrowed(verdicts, mine, fabric.switches), left.at(fabric.switches)
        return replace(verdicts, designed=verdicts.designed + len(left.away)), left.words().removeprefix("; ")

    def _uncut(self, bound: Bound) -> tuple["Design", str]:
        """Return the design without links that may be written only in part and are not seen, and which these are."""
        cut = {each: line for each, line in self.cut.items() if each not in bound.links}
        ports = self.places.uncompared.union(*cut)
        links, wire = ([each for each in every if each not in cut] for every in (self.links, self.ethernet.links))
        rest = replace(
            self,
            links=tuple(links),
            ethernet=replace(self.ethernet, links=tuple(wire)),
            places=replace(self.places, uncompared=ports),
            cut={},
        )
        return rest, cut_words(cut) if cut else ""

    def _apart(self, seen: Capture | Neighbours, bound: Bound) -> tuple["Design", int, tuple[str, ...]] | None:
        """Return the design without ways through patch panels, how many cables these are, and the panels."""
        wire = self.ethernet
        links = wire.links if isinstance(seen, Neighbours) else self.links
        here = {port.device for pair in both_ends(bound.links) for port in pair} if self.panels else set[str]()
        met = sorted(self.panels & here)
        if met:
            raise FleetError(
                f"{seen.label}: {met[0]} has two cables at one port in the list of cables, as a patch panel has, and"
                " is seen, as no patch panel is; if two devices have that name, call them otherwise in the list"
            )
        way = uncompared.apart(links, self.panels | uncompared.passive(links, bound.links))
        if not way.panels:
            return None
        places_ = replace(self.places, uncompared=self.places.uncompared | way.ports)
        left = set(way.links)
        bundles = tuple(each for each in self.bundles if left.issuperset(each))
        rest = replace(self, places=places_, bundles=bundles, panels=frozenset(), fleet=None)
        if isinstance(seen, Neighbours):
            rest = replace(rest, ethernet=replace(wire, links=way.links))
        else:
            rest = replace(rest, links=way.links, planned=self.planned & left)
        return rest, len(links) - len(way.links), way.panels

    def _left_out(self, links: Iterable[Link], observed: Bound) -> LeftOut:
        """Return what no sweep looks for either: planned cables, and devices that are not in service, if unseen."""
        return left_out(links, observed.links, self.planned, self._idle())

    def _idle(self) -> frozenset[str]:
        devices = self.fleet.devices.values() if self.fleet else ()
        return frozenset(device.name for device in devices if device.status not in READY)

    def strange(self, seen: Neighbours) -> tuple[str, ...]:
        """Return the devices that were asked and of which no cable is designed."""
        return tuple(sorted(self.heard(seen).keys() - self.ethernet.names.spoken.keys()))

    def _judge_ethernet(self, seen: Neighbours, fabric: Fabric | None) -> tuple[Verdicts, str]:
        """Judge what devices hear; of a fabric only its own links, without those that need not be heard."""
        if fabric is not None and fabric.kind != ETHERNET:
            raise FleetError(f"{seen.label}: LLDP is about Ethernet, {fabric.name} is InfiniBand; leave --fabric out")
        wire = self.ethernet
        if not wire.links:
            raise FleetError(f"{seen.label}: LLDP is about Ethernet, and the design has no Ethernet cable")
        captures = self.heard(seen)
        if fabric is None or self.fleet is None:
            return wire.judged(captures, self.places, self.bundles, one_fabric=self.fleet is None), ""
        own = tuple(extent.own(wire.links, fabric.switches))
        known = (wire.names, self.places, wire.macs, wire.managed, self.planned, self._idle(), self.share)
        swept = ethernet_sweep.judge(
            EthernetDesign(own, *known),
            HeardBySwitches(captures, seen.unread, seen.learned, seen.nodes),
            lost_links.remembered(seen.between, own),
        )
        return swept.verdicts, swept.words().removeprefix("; ")

    def heard(self, seen: Neighbours) -> dict[str, tuple[Neighbour, ...]]:
        """Return what devices hear, with the names that the design has for both ends."""
        found: dict[str, tuple[Neighbour, ...]] = {}
        for name, neighbours in seen.heard.items():
            device = bind_port(self.aliases.get(name, name), "", self.ethernet.names).device
            if device in found:
                raise FleetError(f"{seen.label}: two captures are of {device}, one of them called {name}; name one")
            found[device] = tuple(
                each._replace(system=self.aliases.get(each.system, each.system)) for each in neighbours
            )
        return found


def design(expected: Sequence[Path] | None, declared: Path | None) -> Design:
    """Return the design that the options name, else that of the settings' source of truth."""
    extra = _declared(declared)
    if not expected:
        from fleet_runner.adapters import source  # noqa: PLC0415  files of cables need no settings

        found = _settings()
        return _site(source.read(found), extra, found.cabling_suspect_share)
    folder = next((each for each in expected if each.is_dir()), None)
    if folder is None:
        return _sheets(expected, extra)
    if len(expected) > 1:
        raise FleetError(
            f"{folder} is a folder of site files, a whole design; give it as the only --expected, or files of cables"
        )
    from fleet_runner.adapters import sitefiles  # noqa: PLC0415  likewise

    return _site(sitefiles.load(folder), extra, _settings().cabling_suspect_share)


def panels_words(count: int, panels: Sequence[str]) -> str:
    """Say which cables are not compared, why, and what would have them compared."""
    some = ", ".join(panels[:NAMED]) + (", …" if len(panels) > NAMED else "")
    many = f"{count} cables end" if count > 1 else "1 cable ends"
    return (
        f"{many} at patch panels ({some}) and are not compared: the list does not say which front port leads to which"
        " rear port; name the NetBox itself as source, or write each way from device to device as one cable"
    )


def cut_words(cut: Mapping[Link, int]) -> str:
    """Say which cables are not compared since their names may be cut, and what would have them compared."""
    many = f"{len(cut)} cables are" if len(cut) > 1 else "1 cable is"
    told = ", ".join(f"line {line}, {each.a} to {each.b}" for each, line in sorted(cut.items()))
    return (
        f"{many} not compared ({told}): the list of cables ends there without the end of a line, so that a name may"
        " be cut; copy the list anew, or end its last line if that is right"
    )


def undesigned() -> Design:
    """Return a design of nothing: ports keep the names that they were seen under."""
    nothing = Names({}, {})
    return Design((), nothing, Places({}, {}, frozenset()), Ethernet((), nothing))


@contextmanager
def uncollected() -> Iterator[None]:
    """A fabric is half a million tuples without a cycle: looking for cycles in them takes as long as judging them."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _settings() -> "Settings":
    from fleet_runner import settings  # noqa: PLC0415  likewise

    return settings.load()


def _declared(path: Path | None) -> Declared:
    """A file on the command line is input; only a site is a source of truth."""
    if path is None:
        return Declared()
    try:
        return names_csv.parse(text(path), path.name)
    except SourceError as error:
        raise FleetError(str(error)) from error


def _sheets(paths: Sequence[Path], declared: Declared) -> Design:
    rows = forms.read(paths)
    links = tuple(row.link for row in rows)
    known = _names(links, {}, {}, declared)
    told = {device: role for row in rows for device, role in row.roles} | dict(declared.roles)
    panels = frozenset(device for row in rows for device in row.panels)
    roles = {device: is_server(role) for device, role in told.items()} | dict.fromkeys(panels, False)
    shared = lanes.shared(row.link for row in rows if row.breakout)
    here = Places({}, {}, servers(links, roles), lanes=shared)
    wire = Ethernet(links, known)
    split = lanes.numbered((row.breakout, row.link) for row in rows if row.breakout and not row.listed)
    fabric = tuple(split.get(row.link, row.link) for row in rows if not row.ethernet)
    if fabric != links:
        known = _names(fabric, {}, {}, declared)
    later = frozenset(row.link for row in rows if row.planned)
    cut = {row.link: row.line for row in rows if row.cut}
    bundles: dict[str, list[Link]] = {}
    for row in rows:
        bundles.setdefault(row.bundle, []).append(row.link)
    bundles.pop("", None)
    for row in rows:
        if row.link in split:
            bundles.setdefault(f"split {row.breakout}", []).append(split[row.link])
    several = tuple(map(tuple, bundles.values()))
    found = Design(fabric, known, here, wire, aliases=declared.devices, planned=later, bundles=several)
    return replace(found, panels=panels, cut=cut)


def _site(fleet: Fleet, declared: Declared, share: float) -> Design:
    fabric = ansible.fabric(fleet)
    links = designed(fabric, infiniband)
    by_type = {kind: adapters_of(kind) for kind in {device.device_type for device in fleet.devices.values()}}
    adapters = {name: by_type[device.device_type] for name, device in fleet.devices.items()}
    known = _names(links, adapters, guids(fabric), declared)
    others = designed(fabric, lambda kind: not infiniband(kind))
    wire = Ethernet(others, _names(others, {}, {}, declared), macs(fabric), managed(fabric), share)
    later = planned(fabric)
    return Design(links, known, places(fabric), wire, fabrics(fleet), share, declared.devices, fleet, later)


def _names(
    links: Iterable[Link], adapters: Mapping[str, Mapping[str, str]], known: Mapping[str, Port], declared: Declared
) -> Names:
    """Gather what ports are called; what was declared by hand wins."""
    mine = tuple(links)
    ports = [port for joined in mine for port in joined]
    spoken = {
        device: {
            **adapters.get(device, {}),
            **declared.adapters_of(device),
        }
        for device in {port.device for port in ports}
    }
    return names(ports, {**known, **declared.guids}, spoken, mine)


def adapters_of(device_type: str) -> dict[str, str]:
    """Return which interface each adapter is, from the device type's definition of healthy."""
    return profile.hca_interfaces(profile_of(device_type))


def profile_of(device_type: str) -> dict[str, Any]:
    """Return a device type's definition of healthy; empty where it has none."""
    import yaml  # noqa: PLC0415  likewise

    name = ansible.group_name("device_type", device_type)
    file = _settings().inventory_file.parent / "group_vars" / f"{name}.yml"
    if not file.is_file():
        return {}
    try:
        variables = yaml.safe_load(text(file))
    except yaml.YAMLError as error:
        raise FleetError(f"{file.name}: it is not YAML; expected the device type's fleet_profile") from error
    found = (variables.get("fleet_profile") or {}) if isinstance(variables, dict) else variables or {}
    if not isinstance(found, dict):
        raise FleetError(f"{file.name}: found no mapping, expected the device type's fleet_profile")
    return found

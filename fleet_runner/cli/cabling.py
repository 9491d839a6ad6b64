"""fleet-runner cabling check: a design against what a fabric says of itself."""

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
import yaml
from rich.text import Text

from fleet_runner import settings
from fleet_runner.adapters import sitefiles
from fleet_runner.cli.session import Exit, console, errors, print_json
from fleet_runner.core import inventory, profile
from fleet_runner.core.cabling.design import designed, guids, infiniband, places
from fleet_runner.core.cabling.explain import Places
from fleet_runner.core.cabling.judge import Verdicts, judge
from fleet_runner.core.cabling.links import Link
from fleet_runner.core.cabling.names import Names, names
from fleet_runner.core.errors import EvidenceError, FleetError, SourceError
from fleet_runner.core.parsers import cables_csv, ibnetdiscover
from fleet_runner.core.parsers.cables_csv import Row
from fleet_runner.core.parsers.discovery import Discovery

app = typer.Typer(no_args_is_help=True)


@app.callback()
def cabling() -> None:
    """Hold cables against their design."""


@dataclass(frozen=True, slots=True)
class Design:
    """What should be: the links, their names in the fabric, and where devices stand."""

    links: tuple[Link, ...]
    names: Names
    places: Places


@app.command()
def check(
    expected: Annotated[Path, typer.Option(help="a CSV of cables, or a folder of site files", show_default=False)],
    observed: Annotated[Path, typer.Option(help="what ibnetdiscover printed, plain or with -p", show_default=False)],
    json: Annotated[bool, typer.Option("--json", help="print JSON instead of text")] = False,
) -> None:
    """Compare a fabric with its design, and say which cables to move.

    One entry a physical fault, each with the fewest touches that put it right. Exit code 0: as designed;
    1: faults were found; 2: a file cannot be used; 3: the site contradicts itself, or what stands at a port cannot be
    told, or is in a fabric of which nothing was heard, and nothing else is wrong.
    """
    with _uncollected():
        design = _design(expected)
        discovery = _discovery(observed)
        verdicts = judge(design.links, discovery.links, design.names, design.places)
    if json:
        print_json(verdicts)
    else:
        _tell(verdicts)
    if verdicts.faults:
        raise typer.Exit(Exit.NO)
    raise typer.Exit(Exit.TROUBLE if verdicts.doubts or verdicts.silent else Exit.OK)


@contextmanager
def _uncollected() -> Iterator[None]:
    """A fabric is half a million tuples without a cycle: looking for cycles in them takes as long as judging them."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _design(path: Path) -> Design:
    if path.is_dir():
        return _site(path)
    links = tuple(row.link for row in _rows(path))
    ends = {port.device for joined in links for port in joined}
    servers = frozenset(ends - _hubs(links))
    return Design(links, names((port for joined in links for port in joined), {}, {}), Places({}, {}, servers))


def _rows(path: Path) -> tuple[Row, ...]:
    """A file on the command line is input; only a site is a source of truth."""
    try:
        return cables_csv.parse(_text(path), path.name)
    except SourceError as error:
        raise FleetError(str(error)) from error


def _hubs(links: Iterable[Link]) -> set[str]:
    """A CSV says nothing of roles: what is joined to the device of most cables at the far end is a server."""
    count: dict[str, int] = {}
    for port in (port for joined in links for port in joined):
        count[port.device] = count.get(port.device, 0) + 1
    return {max(joined, key=lambda port: count[port.device]).device for joined in links}


def _site(folder: Path) -> Design:
    fleet = sitefiles.load(folder)
    fabric = inventory.fabric(fleet)
    links = designed(fabric, infiniband)
    adapters = {name: _adapters(device.device_type) for name, device in fleet.devices.items()}
    known = names((port for joined in links for port in joined), guids(fabric), adapters)
    return Design(links, known, places(fabric))


def _adapters(device_type: str) -> dict[str, str]:
    """Return which interface each adapter is, from the device type's definition of healthy."""
    name = inventory.group_name("device_type", device_type)
    file = settings.load().inventory_file.parent / "group_vars" / f"{name}.yml"
    if not file.is_file():
        return {}
    try:
        variables = yaml.safe_load(_text(file))
    except yaml.YAMLError as error:
        raise FleetError(f"{file.name}: it is not YAML; expected the device type's fleet_profile") from error
    found = (variables.get("fleet_profile") or {}) if isinstance(variables, dict) else variables or {}
    if not isinstance(found, dict):
        raise FleetError(f"{file.name}: found no mapping, expected the device type's fleet_profile")
    return profile.hca_interfaces(found)


def _discovery(path: Path) -> Discovery:
    """Return a whole capture: what half of one lacks is no fault."""
    try:
        return ibnetdiscover.whole(ibnetdiscover.parse(_text(path)))
    except EvidenceError as error:
        raise EvidenceError(f"{path.name}: {error}") from error


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8", errors="replace")
    except OSError as error:
        raise FleetError(f"{path}: {error.strerror}; name a file that can be read") from error


def _tell(verdicts: Verdicts) -> None:
    for fault in verdicts.faults:
        console.print(Text(f"{fault.kind}", style="bold red").append(f"  {fault.message}", style="default"))
        for number, step in enumerate(fault.steps, start=1):
            console.print(f"  {number}. {step}", markup=False)
    for doubt in verdicts.doubts:
        console.print(Text("unknown", style="bold yellow").append(f"  {doubt}", style="default"))
    if verdicts.silent:
        a, b = verdicts.silent[0]
        heard = f"  nothing is heard of {len(verdicts.silent)} designed links, the first: {a} to {b}"
        console.print(Text("unknown", style="bold yellow").append(heard, style="default"))
    count = len(verdicts.faults)
    summary = f"{verdicts.matched} of {verdicts.designed} designed links are there; "
    console.print(summary + (f"{count} fault{'s' if count > 1 else ''} to put right" if count else "no fault"))
    if verdicts.unbound:
        first = verdicts.unbound[0]
        errors.print(
            f"{len(verdicts.unbound)} links are not in the design, the first: {first.a} to {first.b}", markup=False
        )

"""fleet-runner profile propose: a device type's file, from known-good nodes of the store, or from BMCs alone."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml

from fleet_runner.cli.base.session import errors, print_json
from fleet_runner.cli.bmc import stored_nodes
from fleet_runner.cli.bmc.reading import Access, Ca, Fingerprint, Insecure, User, read
from fleet_runner.cli.bmc.stored_nodes import Proposal
from fleet_runner.core.base.errors import EvidenceError, FleetError
from fleet_runner.core.bmc import proposal, proposed, proposed_file

app = typer.Typer(no_args_is_help=True)


@app.callback()
def profile() -> None:
    """What healthy means for a device type, in inventory/group_vars."""


@app.command()
def propose(
    where: Annotated[
        list[str],
        typer.Argument(
            help="known-good nodes of the store, of one device type; or their BMCs, or files of `bmc look --save`",
            metavar="NODE|ADDRESS|FILE",
        ),
    ],
    *,
    user: User = "",
    insecure: Insecure = False,
    ca: Ca = None,
    fingerprint: Fingerprint = "",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="write it into this file, which must be new", metavar="FILE"),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="print JSON instead of YAML")] = False,
) -> None:
    """Propose a device type's profile: parts, BIOS settings, firmware pins, sensors, topology, pass marks.

    Of nodes it takes what their checks last read; of BMCs what these say now, and nothing is changed on them. From
    several nodes it takes what is alike on all: what differs is a comment that names them. Nothing that was not read
    is in it: review it, add what only you know, then run `fleet-runner firmware check`.
    """
    if stored_nodes.named(where):
        found = stored_nodes.propose(where)
        _warn(found)
    else:
        found = _of_bmcs(where, Access(user, insecure, ca, fingerprint))
    if output is not None:
        _write(output, found.text)
    if json:
        print_json(_plain(found))
    elif output is None:
        sys.stdout.write(found.text)


def _of_bmcs(where: list[str], access: Access) -> Proposal:
    nodes = []
    for each in where:
        tree, now = read(each, access)
        for uri, why in tree.unread.items():
            errors.print(f"warning: {each}: not read: {uri}: {why}", markup=False, soft_wrap=True)
        try:
            nodes.append(proposal.node(tree, each, now))
        except EvidenceError as error:
            raise FleetError(f"{each}: {error}") from error
    return Proposal("", tuple(nodes), proposed_file.text(nodes), {})


def _warn(found: Proposal) -> None:
    """Say who is odd, and what these nodes would fail of their own profile: they may not be that good."""
    for name, reasons in proposed.odd(found.nodes).items():
        more = f" and {len(reasons) - 1} more" if len(reasons) > 1 else ""
        errors.print(f"odd: {name}: {reasons[0]}{more}; look at it", markup=False, soft_wrap=True)
    for name, results in found.failing.items():
        for each in results:
            told = f"warning: {name} would fail {each.check}: {each.message}; is it really good?"
            errors.print(told, markup=False, soft_wrap=True)


def _write(file: Path, text: str) -> None:
    try:
        with file.open("x", encoding="utf-8") as new:
            new.write(text)
    except FileExistsError:
        raise FleetError(
            f"{file} exists, and is left as it is; name another file, compare them, and replace it yourself"
        ) from None
    except OSError as error:
        raise FleetError(
            f"{file} cannot be written: {error.strerror}; name a file in a folder that exists"
        ) from error


def _plain(found: Proposal) -> dict[str, Any]:
    return {
        "device_type": found.device_type,
        "nodes": [{"name": node.name, "day": node.day, "notes": node.notes} for node in found.nodes],
        "values": [{"key": each.key, "value": each.value, "why": each.why} for each in proposed.alike(found.nodes)],
        "differences": [{"key": each.key, "nodes": each.values} for each in proposed.differences(found.nodes)],
        "odd": proposed.odd(found.nodes),
        "would_fail": {
            name: [{"check": each.check, "message": each.message} for each in mine]
            for name, mine in found.failing.items()
        },
        "profile": yaml.safe_load(found.text)["fleet_profile"] or {},
    }

"""fleet-runner profile propose: a device type's file, from what the BMCs of its nodes say."""

import sys
from typing import Annotated

import typer

from fleet_runner.cli.base.session import errors
from fleet_runner.cli.bmc.reading import Access, Ca, Fingerprint, Insecure, User, read
from fleet_runner.core.base.errors import EvidenceError, FleetError
from fleet_runner.core.bmc import proposal

app = typer.Typer(no_args_is_help=True)


@app.callback()
def profile() -> None:
    """What healthy means for a device type, in inventory/group_vars."""


@app.command()
def propose(
    where: Annotated[
        list[str],
        typer.Argument(help="BMCs of one device type, or files that `bmc look --save` wrote", metavar="ADDRESS|FILE"),
    ],
    *,
    user: User = "",
    insecure: Insecure = False,
    ca: Ca = None,
    fingerprint: Fingerprint = "",
) -> None:
    """Print a device type's profile from what BMCs say: parts, sensors, power supplies, firmware pins.

    From several nodes it takes what is alike on all; what differs is a comment that names them. Nothing is changed on
    a BMC. Nothing that was not read is in it: add what only you know, then run `fleet-runner firmware check`.
    """
    access = Access(user, insecure, ca, fingerprint)
    nodes = []
    for each in where:
        tree, now = read(each, access)
        for uri, why in tree.unread.items():
            errors.print(f"warning: {each}: not read: {uri}: {why}", markup=False, soft_wrap=True)
        try:
            nodes.append(proposal.node(tree, each, now))
        except EvidenceError as error:
            raise FleetError(f"{each}: {error}") from error
    sys.stdout.write(proposal.proposed(nodes))

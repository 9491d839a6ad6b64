"""What is wrong or missing in what settings name for the boot service: told before a node boots."""

from collections.abc import Callable, Iterable
from functools import partial

from fleet_runner.adapters.join import munge
from fleet_runner.adapters.join.kubernetes import bearer
from fleet_runner.cli.base.session import errors
from fleet_runner.core.base.errors import FleetError
from fleet_runner.services.boot import join
from fleet_runner.services.boot.keys_file import authorized_keys
from fleet_runner.services.boot.listening import unreachable
from fleet_runner.services.boot.templating import broken
from fleet_runner.settings import Settings

MANY = 20
"""Nodes that are named; the rest is counted."""


def warn(notes: Iterable[str]) -> None:
    """Print warnings on standard error."""
    for note in notes:
        errors.print(f"warning: {note}", markup=False, soft_wrap=True)


def warn_of_nodes(notes: tuple[str, ...]) -> None:
    """Print a warning for each of the first nodes, and count the others."""
    warn(notes[:MANY])
    if len(notes) > MANY:
        warn([f"the same for {len(notes) - MANY} more nodes"])


def wrong(chosen: Settings) -> list[str]:
    """Return what cannot be used of what documents are made from; of a secret, nothing is told but its file."""
    keys = said(partial(authorized_keys, chosen.boot_authorized_keys))
    return [*keys, *broken(chosen.boot_templates), *_joins(chosen)]


def unset(chosen: Settings) -> list[str]:
    """Return what documents lack by a setting that is not set."""
    if chosen.boot_authorized_keys is None:
        return ["boot_authorized_keys is not set; nobody could log in to a node by ssh"]
    return []


def unready(chosen: Settings) -> list[str]:
    """Return what is to be known when the boot service starts, of all that does not keep it from starting."""
    found = wrong(chosen) + unset(chosen)
    found += unreachable(chosen.boot_listen, chosen.boot_url, "boot_listen")
    found += unreachable(chosen.boot_secure_listen, chosen.boot_secure_url, "boot_secure_listen")
    if chosen.boot_dhcp_token is None:
        found.append("boot_dhcp_token is not set; no DHCP server can report leases")
    if not chosen.boot_loaders.is_dir():
        found.append(
            f"boot_loaders names {chosen.boot_loaders}, which is not a folder; UEFI HTTP boot needs iPXE there"
        )
    return found


def said(read: Callable[[], object]) -> list[str]:
    """Return why something cannot be read, if it cannot."""
    try:
        read()
    except FleetError as error:
        return [str(error)]
    return []


def _joins(chosen: Settings) -> list[str]:
    try:
        joining, _ = join.read(chosen.boot_join)
    except FleetError as error:
        return [str(error)]
    found = said(partial(bearer, joining.kubernetes.cluster.token_file)) if joining.kubernetes else []
    return found + (said(partial(munge.key, joining.slurm.munge_key)) if joining.slurm else [])

"""The source of truth, and what it says of how nodes and their BMCs are reached."""

import os
import shutil
from collections.abc import Iterator
from functools import partial

from fleet_runner.adapters import source
from fleet_runner.adapters.plays.credentials import PASSWORD, USERNAME
from fleet_runner.adapters.redfish import vault
from fleet_runner.adapters.redfish.credentials import trouble
from fleet_runner.adapters.redfish.exchange import Exchange, Limits
from fleet_runner.adapters.redfish.open import is_ipmi, trust
from fleet_runner.cli.setup.doctor.finding import Finding, Site, limited, ok, some, warning, wrong
from fleet_runner.core.base.errors import BmcError, SourceError
from fleet_runner.core.inventory import ansible
from fleet_runner.core.inventory.bmc_address import networks
from fleet_runner.core.inventory.records import Fleet, nodes

MOST_REACHED = 3
ROOT = "/redfish/v1/"
REACH_SECONDS = 15.0
LIMITS = Limits(connect_seconds=4.0, read_seconds=8.0, total_seconds=12.0, retries=0)


def truth(site: Site) -> Iterator[Finding]:
    """Read the source of truth, and keep what it says for the other looks."""
    named = site.settings.source
    try:
        site.fleet = _read(site)
    except SourceError as error:
        first, *others = str(error).splitlines()
        more = f" and {len(others)} lines more" if others else ""
        yield wrong("source", first + more, "correct it; fleet-runner tick lists everything that is wrong")
        return
    found = [device.name for device in nodes(site.fleet)]
    everything = ansible.all_hostvars(site.fleet, networks(site.settings.bmc_networks))
    site.hosts = {name: everything[name] for name in found if name in everything}
    said = f"{named}: {len(found)} nodes, {len(site.fleet.devices)} devices"
    if found:
        yield ok("source", said)
    else:
        yield warning("source", said, "add devices with the role gpu-server there, active or staged")


def _read(site: Site) -> Fleet:
    """Read it and write nothing down, not even what is kept of a NetBox for the next time."""
    if "://" not in site.settings.source:
        return source.read(site.settings)
    from fleet_runner.adapters import netbox  # noqa: PLC0415  its client is slow to load, and site folders need none

    patience = netbox.Timeouts(connect_seconds=5.0, read_seconds=30.0, retries=0)
    return netbox.load(site.settings.source, source.token(site.settings), patience)


def bmcs(site: Site) -> Iterator[Finding]:
    """Say whether there are credentials for BMCs, whose certificates are trusted, and which nodes have no BMC."""
    found = site.settings
    trust(found)
    if found.bmc_vault and not os.environ.get(USERNAME):
        vault.secret(found)
    if why := trouble(found):
        yield wrong("bmc", why)
    elif not (found.bmc_vault or found.bmc_credentials or os.environ.get(USERNAME) or os.environ.get(PASSWORD)):
        todo = "write username and password into bmc.yml, chmod 600 bmc.yml, and set bmc_credentials in fleet.toml"
        yield warning("bmc", "no credentials: no BMC can be asked", todo)
    elif found.bmc_insecure:
        yield warning("bmc", "there are credentials; unsigned certificates are accepted", "set bmc_ca")
    else:
        yield ok("bmc", "there are credentials, and only their owner can read them")
    refused = [str(each["fleet_bmc_refused"]) for each in site.hosts.values() if each.get("fleet_bmc_refused")]
    if refused:
        todo = "correct the addresses in the source, or the setting bmc_networks"
        yield warning("bmc", f"{len(refused)} BMCs are given no credentials: {refused[0]}", todo)
    without = [name for name, each in site.hosts.items() if not {"fleet_bmc_url", "fleet_bmc_refused"} & set(each)]
    if without:
        yield warning("bmc", f"no BMC address: {some(without)}", "give these devices an out-of-band address (oob_ip)")


def reach(site: Site) -> Iterator[Finding]:
    """Ask the first BMCs for the root of their service, which needs no password."""
    found = [(name, str(each["fleet_bmc_url"])) for name, each in site.hosts.items() if each.get("fleet_bmc_url")]
    if not found:
        yield warning("reach", "the source has no BMC address", "give devices an out-of-band address")
    for name, url in found[:MOST_REACHED]:
        yield from limited("reach", partial(_root, site, name, url), REACH_SECONDS)


def _root(site: Site, name: str, url: str) -> Iterator[Finding]:
    if is_ipmi(url):
        yield _ipmi(name, url)
        return
    exchange = Exchange(url, verify=trust(site.settings), limits=LIMITS)
    try:
        answer = exchange.once("GET", ROOT)
    except BmcError as error:
        yield wrong("reach", f"{name}: {error}", "check its network, its address in the source, or bmc_ca")
        return
    finally:
        exchange.close()
    if answer.body is None or "RedfishVersion" not in answer.body:
        todo = "correct its address in the source; Redfish may be switched off in the BMC's settings"
        yield wrong("reach", f"{name}: {url} answered HTTP {answer.status}, and is not a Redfish service", todo)
        return
    yield ok("reach", f"{name}: {url} answers, Redfish {str(answer.body['RedfishVersion'])[:20]}")


def _ipmi(name: str, url: str) -> Finding:
    """Tell whether IPMI can be asked; without a password it says nothing."""
    if shutil.which("ipmitool") is None:
        return wrong("reach", f"{name}: {url} is asked by ipmitool, which is not installed", "apt install ipmitool")
    return ok("reach", f"{name}: {url} is asked by ipmitool, which needs the password: not tried")

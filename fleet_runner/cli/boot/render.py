"""fleet-runner boot render and boot check: cloud-init's documents before any node boots with them."""

import sys
import time
from collections.abc import Collection, Iterable
from enum import StrEnum
from functools import partial
from typing import Annotated

import typer
from rich.syntax import Syntax

from fleet_runner import settings
from fleet_runner.adapters import source
from fleet_runner.adapters.join.kubernetes import TokenIssuer
from fleet_runner.cli.base.session import Exit, console
from fleet_runner.cli.boot.readiness import said, unset, warn, warn_of_nodes, wrong
from fleet_runner.cli.boot.show import NodeName
from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.boot.boots import Boot, Identity
from fleet_runner.core.boot.dhcp.reservations import obstacles
from fleet_runner.core.boot.facts import BootEndpoint, Facts, facts
from fleet_runner.core.boot.network import ethernet
from fleet_runner.core.inventory.records import Device, Fleet, nodes
from fleet_runner.services.boot import join
from fleet_runner.services.boot.documents import NAMES, Documents
from fleet_runner.services.boot.listening import token
from fleet_runner.services.boot.templating import unused
from fleet_runner.settings import Settings

NOWHERE = "http://boot-service.invalid"
"""Stands for the boot service's address while the settings name none."""


class Document(StrEnum):
    """The documents by name, for the command line."""

    META = "meta-data"
    VENDOR = "vendor-data"
    NETWORK = "network-config"
    USER = "user-data"


def render(
    node: NodeName,
    document: Annotated[Document | None, typer.Option(help="only this one, as it is sent")] = None,
) -> None:
    """Print what cloud-init would get for a node, with secrets hidden; no boot is armed, no key is made."""
    chosen = settings.load()
    fleet = source.read(chosen)
    device = fleet.devices.get(node)
    if device is None or device not in nodes(fleet):
        raise FleetError(f"no node {node!r} in the source of truth; name one of those that fleet-runner status lists")
    _warn(chosen)
    documents = Documents(chosen)
    known = _facts(chosen, fleet, device)
    if document:
        sys.stdout.write(_body(documents, document, known))
        return
    for each in Document:
        console.rule(each, style="bold", align="left")
        body = _body(documents, each, known)
        if console.is_terminal:
            console.print(Syntax(body, "yaml", background_color="default", word_wrap=True))
        else:
            console.print(body, markup=False, soft_wrap=True)


def check(
    *, ask_cluster: Annotated[bool, typer.Option(help="also try whether the API server would mint a token")] = False
) -> None:
    """Render every node's documents and say what is wrong; exit code 1 if anything is."""
    chosen = settings.load()
    fleet = source.read(chosen)
    _warn(chosen)
    warn_of_nodes(tuple(f"{name}: {why}" for name, why in obstacles(fleet).items()))
    documents = Documents(chosen)
    found = [
        f"{each}: no document or device type has this name; correct it, or begin it with _ to include the file"
        for each in unused(chosen.boot_templates, NAMES, fleet.device_types)
    ]
    found += wrong(chosen) + said(partial(token, chosen.boot_dhcp_token))
    found += _wrong(documents, [_facts(chosen, fleet, device) for device in nodes(fleet)], told=found)
    found += _cluster(chosen) if ask_cluster else []
    for sentence in found:
        console.print(sentence, markup=False, soft_wrap=True)
    if found:
        raise typer.Exit(Exit.NO)
    console.print(f"{len(nodes(fleet))} nodes: all documents are valid for cloud-init")


def _body(documents: Documents, document: Document, known: Facts) -> str:
    match document:
        case Document.META:
            return documents.meta_data(known).decode()
        case Document.VENDOR:
            return documents.vendor_data(known).decode()
        case Document.NETWORK:
            return documents.network_config(known).decode()
        case Document.USER:
            return documents.preview(known).decode()


def _wrong(documents: Documents, known: Iterable[Facts], told: Collection[str]) -> list[str]:
    """Return a sentence for each thing that is wrong, with the first node that has it and how many more have.

    What is told already is told for all nodes.
    """
    found: dict[str, list[str]] = {}
    for each in known:
        for document in Document:
            try:
                _body(documents, document, each)
            except FleetError as error:
                about = f"{document} of {each.node['name']}: "
                found.setdefault(str(error).removeprefix(about), []).append(about)
    return [f"{about[0]}{text}{_more(len(about) - 1)}" for text, about in found.items() if text not in told]


def _more(others: int) -> str:
    return f" (and {others} {'others' if others > 1 else 'other'})" if others else ""


def _facts(chosen: Settings, fleet: Fleet, device: Device) -> Facts:
    """Return facts of a boot that nobody armed: number 0, from the first Ethernet interface."""
    mac = next((each.mac for each in ethernet(device.interfaces) if each.mac), "")
    boot = Boot(0, device.name, None, 0.0, 0.0, Identity())
    url = chosen.boot_secure_url or chosen.boot_url or NOWHERE
    return facts(fleet, device, boot, BootEndpoint(url, "0-key-of-the-boot", mac or ""))


def _cluster(chosen: Settings) -> list[str]:
    """Return why the API server would mint no token; it is asked to check one without keeping it."""
    joining, _ = join.read(chosen.boot_join)
    if joining.kubernetes is None:
        return ["--ask-cluster: boot_join names no Kubernetes cluster"]
    minter = TokenIssuer(joining.kubernetes.cluster)
    try:
        minter.mint("a trial", now=time.time(), dry=True)
    except FleetError as error:
        return [str(error)]
    finally:
        minter.close()
    return []


def _warn(chosen: Settings) -> None:
    if not (chosen.boot_url or chosen.boot_secure_url):
        warn([f"boot_url is not set; the documents show {NOWHERE} in its place"])
    warn(unset(chosen))

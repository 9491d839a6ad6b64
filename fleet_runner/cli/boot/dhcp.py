"""fleet-runner boot dhcp: the configuration of a boot server's DHCP server, from the source of truth."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml

from fleet_runner import settings
from fleet_runner.adapters import source
from fleet_runner.adapters.dhcp import refusal
from fleet_runner.cli.base.session import Exit, console
from fleet_runner.cli.boot.readiness import warn_of_nodes
from fleet_runner.core.base.errors import FleetError, SettingsError
from fleet_runner.core.boot.dhcp import KINDS, render
from fleet_runner.core.boot.dhcp.networks import Networks, read
from fleet_runner.settings import Settings


class Server(StrEnum):
    """The kinds of configuration, for the command line."""

    DNSMASQ = "dnsmasq"
    PROXY = "dnsmasq-proxy"
    KEA = "kea"
    TFTP = "tftp"


def dhcp(
    kind: Annotated[
        Server,
        typer.Option(
            "--for",
            help="dnsmasq as DHCP and TFTP server; beside another DHCP server (dnsmasq-proxy); Kea;"
            " or dnsmasq for TFTP only, beside Kea",
            show_default=False,
        ),
    ],
    networks: Annotated[
        Path,
        typer.Option(
            help="YAML file that describes the boot networks, as docs/boot-servers.md has it; - is standard input",
            show_default=False,
        ),
    ],
    check: Annotated[
        bool,
        typer.Option("--check", help="print nothing; test it with the server's own program; exit code 1 if it fails"),
    ] = False,
) -> None:
    """Print a DHCP server's configuration: networks, what each firmware boots, and every node's address.

    A node that cannot have an address reserved is named on standard error, with the reason.
    """
    found = settings.load()
    described = _described(found, networks)
    rendered = render(kind, source.read(found), described)
    warn_of_nodes(rendered.notes)
    if not check:
        sys.stdout.write(rendered.text)
        return
    asked = KINDS[kind]
    said = refusal(asked.test, rendered.text)
    if said:
        console.print(f"{asked.program} refuses it: {said}", markup=False, soft_wrap=True)
        raise typer.Exit(Exit.NO)
    console.print(f"{asked.program} takes it: {_counted(rendered.reserved, asked.reserves)}", soft_wrap=True)


def _described(found: Settings, file: Path) -> Networks:
    if not found.boot_url:
        raise SettingsError("boot_url is not set; DHCP gives nodes the address of the boot service, so set it first")
    parsed = _parsed(file)
    try:
        return read(parsed, found.boot_url, str(found.boot_loaders))
    except SettingsError as error:
        raise SettingsError(f"--networks {file}: {error}") from error


def _parsed(file: Path) -> Any:
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
        return yaml.safe_load(text)
    except OSError as error:
        raise SettingsError(f"--networks {file}: {error.strerror}; name a YAML file of boot networks") from error
    except (UnicodeDecodeError, yaml.YAMLError, RecursionError) as error:
        raise FleetError(f"--networks {file}: {' '.join(str(error).split())}; expected YAML") from error


def _counted(reserved: int, reserves: bool) -> str:
    if not reserves:
        return "it reserves no addresses"
    return f"{reserved} node{'' if reserved == 1 else 's'} with a reserved address"

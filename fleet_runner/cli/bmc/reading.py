"""Reads a BMC at an address, or a file that an earlier look saved: whom to trust, who asks, and how far it is."""

import getpass
import os
import re
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from fleet_runner import settings
from fleet_runner.adapters.files import bmc_trees
from fleet_runner.adapters.plays.credentials import HANDED, PASSWORD, USERNAME
from fleet_runner.adapters.redfish.certificate import fingerprint as shown_at
from fleet_runner.adapters.redfish.credentials import credentials
from fleet_runner.adapters.redfish.exchange import UntrustedError
from fleet_runner.adapters.redfish.open import trust
from fleet_runner.adapters.redfish.survey import LIMITS, Tell, root_of, survey
from fleet_runner.adapters.redfish.wire import Connection
from fleet_runner.cli.base.session import errors
from fleet_runner.core.base.errors import BmcError, FleetError, SettingsError
from fleet_runner.core.bmc.tree import Tree

SOON = 2.0
"""Seconds after which a person wants to know what takes so long."""

User = Annotated[
    str,
    typer.Option(
        "--user", "-u", help=f"who asks; the password comes from {PASSWORD}, or is asked for", metavar="NAME",
        show_default=False,
    ),
]  # fmt: skip
Insecure = Annotated[bool, typer.Option("--insecure", help="accept any certificate")]
Ca = Annotated[
    Path | None,
    typer.Option("--ca", help="trust certificates of the authorities in this file (PEM)", metavar="FILE",
                 show_default=False),
]  # fmt: skip
Fingerprint = Annotated[
    str,
    typer.Option(help="accept this certificate alone: its SHA-256 in hex", metavar="SHA256", show_default=False),
]


@dataclass(frozen=True, slots=True)
class Access:
    """Who asks, and which certificates are accepted beyond what the settings say."""

    user: str
    insecure: bool
    ca: Path | None
    fingerprint: str

    def checked(self) -> "Access":
        """Return this with the fingerprint in plain hex, or say which options contradict each other."""
        if sum((self.insecure, self.ca is not None, bool(self.fingerprint))) > 1:
            raise FleetError("--insecure, --ca and --fingerprint exclude each other; give one of them")
        return Access(self.user, self.insecure, self.ca, _hex(self.fingerprint) if self.fingerprint else "")


def read(where: str, access: Access) -> tuple[Tree, float | None]:
    """Return what a BMC, or a file, says, and the time now; no time for a file, whose BMC's clock counts.

    Raises:
        FleetError: nothing can be read there at all.
    """
    access = access.checked()
    path = Path(where).expanduser()
    if path.is_file() or path.suffix in {".json", ".gz"}:
        return bmc_trees.read(path), None
    try:
        return _asked(url_of(where), access), time.time()
    except BmcError as error:  # unlike elsewhere the address is what was typed: unusable input
        raise FleetError(str(error)) from error


def url_of(address: str) -> str:
    """Return the URL of an address: https, unless it says otherwise; an IPv6 address needs no brackets."""
    if "://" in address:
        return address
    bare = address.count(":") > 1 and not address.startswith("[")
    return f"https://[{address}]" if bare else f"https://{address}"


def _asked(url: str, access: Access) -> Tree:
    chosen = settings.load()
    with closing(_connection(chosen, url, ("", ""), access)) as nobody:
        try:
            root_of(nobody)
        except UntrustedError:
            raise FleetError(_untrusted(nobody.url, access)) from None
    user = _user(chosen, nobody.url, access.user)
    with closing(_connection(chosen, url, user, access)) as connection, _progress(nobody.url) as tell:
        return survey(connection, tell)


def _connection(chosen: settings.Settings, url: str, user: tuple[str, str], access: Access) -> Connection:
    if access.ca is not None and not access.ca.is_file():
        raise FleetError(f"--ca names {access.ca}, which is not a file; expected certificates in PEM")
    own = access.insecure or access.fingerprint
    verify = False if own else str(access.ca) if access.ca else trust(chosen)
    connection = Connection(url, user, verify=verify, limits=LIMITS)
    if access.fingerprint:
        connection.exchange.pin(access.fingerprint)
    return connection


def _untrusted(url: str, access: Access) -> str:
    found = _colons(shown_at(url))
    if access.fingerprint:
        return (
            f"{url} shows another certificate: SHA-256 {found}, expected {_colons(access.fingerprint)}; no password"
            " was sent; find out why before you accept it"
        )
    return (
        f"{url} shows a certificate that no known authority signed, as most BMCs do; no password was sent. Its"
        f" SHA-256 is {found}. Compare it with what the BMC's console or web page shows, then add --fingerprint"
        f" {found.replace(':', '')}; or name its authority with --ca FILE; or accept any with --insecure"
    )


def _hex(text: str) -> str:
    plain = re.sub(r"[\s:]", "", text.rpartition("=")[2]).lower()
    if not re.fullmatch("[0-9a-f]{64}", plain):
        raise FleetError(f"--fingerprint {text[:80]!r} is no SHA-256; expected 64 hex digits, with or without colons")
    return plain


def _colons(plain: str) -> str:
    return ":".join(re.findall("..", plain)).upper()


def _user(chosen: settings.Settings, url: str, name: str) -> tuple[str, str]:
    """Return who asks: as the settings and the environment say, else as the person at the terminal does."""
    known = any(os.environ.get(each) for each in (USERNAME, PASSWORD, HANDED)) or chosen.bmc_vault
    if name and os.environ.get(PASSWORD):
        return name, os.environ[PASSWORD]
    if not name and (known or chosen.bmc_credentials):
        return credentials(chosen, url)
    if not sys.stdin.isatty():
        raise SettingsError(
            f"no password for {url}: set {PASSWORD} (and {USERNAME}, or --user), or FLEET_BMC_CREDENTIALS to a YAML"
            " file of mode 0600 with username and password, or run this on a terminal, which asks"
        )
    who = name or typer.prompt(f"User of {url}", err=True)
    return who, getpass.getpass(f"Password of {who} at {url}: ")


@contextmanager
def _progress(url: str) -> Iterator[Tell]:
    """Say on a terminal how far the reading is, once it has taken a moment."""
    if not errors.is_terminal:
        yield lambda *_: None
        return
    shown = errors.status("")
    clock = threading.Timer(SOON, shown.start)
    clock.start()
    try:
        yield lambda part, count: shown.update(f"reads {url}: {part}, {count} requests so far")
    finally:
        clock.cancel()
        clock.join()
        shown.stop()

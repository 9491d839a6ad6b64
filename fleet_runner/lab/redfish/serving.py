"""Emulated BMCs for a person, or a program in another language: so many, until Ctrl-C."""

import json
import os
import secrets
import signal
import ssl
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

from fleet_runner.core.base.errors import FleetError
from fleet_runner.lab.redfish import rules as rule_files
from fleet_runner.lab.redfish.emulator import Emulator
from fleet_runner.lab.redfish.pace import Durations
from fleet_runner.lab.redfish.trees import OUR_OWN, load

READABLE_BY_OTHERS = 0o077
MOST_PORT = 65_535
SIGNALS = frozenset({signal.SIGINT, signal.SIGTERM})


class ServingError(FleetError):
    """The emulators cannot be started as asked."""


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """What was asked for; without a tree our own small one, without credentials made-up ones in a file of their own.

    `port` is the first of `count`; 0 takes whichever are free. `tls` are the files of a certificate and its key.
    """

    tree: Path = OUR_OWN
    count: int = 1
    port: int = 0
    credentials: Path | None = None
    rules: Path | None = None
    seed: int = 0
    speed: float = 1.0
    tls: tuple[Path, Path] | None = None
    as_json: bool = False


def serve(wanted: ServeOptions, say: Callable[[str], None]) -> None:
    """Start emulators, say where they are, and stop them at SIGINT or SIGTERM."""
    # Blocked before the emulators' thread starts, which inherits that: the signal then waits for sigwait.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        with ExitStack() as stack:
            path, user = stack.enter_context(_credentials(wanted.credentials))
            started = [stack.enter_context(bmc) for bmc in _emulators(wanted, user)]
            say(_said([bmc.url for bmc in started], path, user[0], as_json=wanted.as_json))
            signal.sigwait(SIGNALS)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def faults() -> str:
    """Return what can go wrong by rule, one line per fault."""
    rows = [(name, " ".join(fault.events), fault) for name, fault in sorted(rule_files.FAULTS.items())]
    return "\n".join(
        f"{name:17} {', '.join(fault.options) or '-':18} {fault.sentence} [{events}]" for name, events, fault in rows
    )


def _emulators(wanted: ServeOptions, user: tuple[str, str]) -> Iterator[Emulator]:
    if wanted.count < 1 or not 0 <= wanted.port <= MOST_PORT + 1 - wanted.count:
        raise ServingError(f"{wanted.count} BMCs from port {wanted.port} on are not possible; choose others")
    if wanted.speed <= 0:
        raise ServingError(f"a speed of {wanted.speed:g} is none; 2 is twice as fast as usual")
    tree = load(wanted.tree)
    rules = rule_files.load(wanted.rules) if wanted.rules else ()
    tls = _certificate(*wanted.tls) if wanted.tls else None
    pace = Durations().times(1 / wanted.speed)
    for number in range(wanted.count):
        port = wanted.port + number if wanted.port else 0
        try:
            yield Emulator(
                tree, credentials=user, pace=pace, rules=rules, seed=wanted.seed + number, port=port, tls=tls
            )
        except OSError as error:
            raise ServingError(f"127.0.0.1:{port} cannot be listened at: {error.strerror}") from None


def _said(urls: list[str], credentials: Path, user: str, *, as_json: bool) -> str:
    if as_json:
        return json.dumps({"bmcs": urls, "username": user, "credentials": str(credentials)})
    return "\n".join([*urls, f"user {user}, password in {credentials}; Ctrl-C ends them"])


@contextmanager
def _credentials(path: Path | None) -> Iterator[tuple[Path, tuple[str, str]]]:
    """Give user and password from a file, or make some up in a file that is removed at the end."""
    if path is not None:
        yield path, _read(path)
        return
    handle, name = tempfile.mkstemp(prefix="bmc-credentials-", suffix=".yml")  # 0600
    made = Path(name)
    try:
        user = ("admin", secrets.token_urlsafe(18))
        with os.fdopen(handle, "w") as file:
            yaml.safe_dump({"username": user[0], "password": user[1]}, file)
        yield made, user
    finally:
        made.unlink(missing_ok=True)


def _read(path: Path) -> tuple[str, str]:
    try:
        if path.stat().st_mode & READABLE_BY_OTHERS:
            raise ServingError(f"{path} can be read by others; run `chmod 600 {path}`")
        said = yaml.safe_load(path.read_text("utf-8"))
    except (OSError, ValueError, yaml.YAMLError):
        raise ServingError(f"{path} cannot be read as YAML with username and password") from None
    if not isinstance(said, dict) or not all(isinstance(said.get(name), str) for name in ("username", "password")):
        raise ServingError(f"{path} does not say username and password")
    return said["username"], said["password"]


def _certificate(certificate: Path, key: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(certificate, key)
    except (OSError, ssl.SSLError) as error:
        raise ServingError(f"{certificate} and {key} are no certificate with its key: {error}") from None
    return context

"""What every command shares: settings, store, output, and errors as one line with an exit code."""

import dataclasses
import getpass
import json
import re
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import typer
from rich.console import Console

from fleet_runner.core.base import durations
from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.base.suggestions import alike
from fleet_runner.core.schedules.times import UNITS

if TYPE_CHECKING:
    from fleet_runner.adapters.store import Store
    from fleet_runner.core.lifecycle.runs import Node
    from fleet_runner.settings import Settings

console = Console(highlight=False, soft_wrap=False, emoji=False)
errors = Console(stderr=True, highlight=False, emoji=False)

ByNode = typer.Option("--node", "-n", help="a node; several: once for each, or with commas", metavar="NODE")
"""Nodes of a command whose argument is something else: a stage, a check, a device type."""


age = durations.age
"""How a duration is said."""


class Exit(IntEnum):
    """Exit codes of every command; docs/exit-codes.md lists them for people."""

    OK = 0
    NO = 1  # the answer is no: discrepancies were found, a request was refused
    USAGE = 2  # the command line, a setting or an input file is unusable
    TROUBLE = 3  # the store, the source of truth or a device cannot be read
    WAITING = 4  # nobody answered in time; what was asked for stays asked for
    INTERRUPTED = 130  # Ctrl-C


class Called(NamedTuple):
    """What was typed: a command, and the server that its line names before it, "" for none."""

    command: str = ""
    server: str = ""


CALLED: ContextVar[Called] = ContextVar("called")

AFAR = frozenset({
    "status", "node", "history", "explain", "evidence", "tickets", "results", "ticket", "queue", "schedules",
    "certify", "hold", "maintenance", "release", "cancel", "reset", "reboot", "triage", "debug", "repaired", "retry",
    "retire", "run", "provision", "trends",
})  # fmt: skip
"""Commands that can ask a server instead of a store."""


def called(command: str, server: str) -> None:
    """Note what was typed; FleetError where that command can ask no server."""
    CALLED.set(Called(command, server))
    if server:
        _may_ask_afar(command)


def _may_ask_afar(command: str) -> None:
    if command not in AFAR:
        raise FleetError(f"{command} works only on the machine of the store; run it there, without a server")


@contextmanager
def opened(*, create: bool = False) -> "Iterator[tuple[Settings, Store]]":
    """Open the settings' store for the length of a command, or what stands for a server's, where one is named."""
    from fleet_runner import settings  # noqa: PLC0415  time that commands without a store spare

    for sentence in settings.strays():
        errors.print(f"warning: {sentence}", markup=False, soft_wrap=True)
    found = settings.load()
    typed = CALLED.get(Called())
    server = typed.server or found.server
    if server:
        from fleet_runner.adapters.remote import reached  # noqa: PLC0415  likewise

        _may_ask_afar(typed.command)
        store = cast("Store", reached(found, server))
    else:
        store = _created(found.store_url) if create else _opened(found.store_url)
        if store.refusal:
            errors.print(f"warning: read-only: {store.refusal}", markup=False, soft_wrap=True)
    try:
        yield found, store
    finally:
        store.close()


def _created(url: str) -> "Store":
    from fleet_runner.adapters.store import Store  # noqa: PLC0415  likewise

    return Store.create(url)


def _opened(url: str) -> "Store":
    """Open a store to look at it; SQLAlchemy is loaded once something else is asked than its reader knows."""
    from fleet_runner.adapters.store.reader import reader  # noqa: PLC0415  likewise

    return reader.opened(url)


@contextmanager
def explained(sentence: str) -> Iterator[None]:
    """Say what a Ctrl-C leaves behind; the command ends as interrupted all the same."""
    try:
        yield
    except KeyboardInterrupt:
        errors.print(f"interrupted: {sentence}", markup=False, soft_wrap=True)
        raise


def known(store: "Store", name: str) -> "Node":
    """Return a node by name, or say which names are near."""
    node = store.node(name)
    if node is None:
        names = [each.name for each in store.nodes()]
        like = ", ".join(alike(name, names))
        near = f"similar names: {like}" if like else "fleet-runner status lists all nodes"
        near = near if names else "it is empty: run fleet-runner tick"
        raise FleetError(f"no node {name!r} in the store; {near}")
    return node


def split(given: Collection[str]) -> list[str]:
    """Return names that were given one by one or with commas, each once; FleetError where none is among them."""
    found = list(dict.fromkeys(name for each in given for name in each.replace(",", " ").split()))
    if given and not found:
        raise FleetError(f"{', '.join(map(repr, given))} holds no name; expected one such as gpu-03")
    return found


def whoami() -> str:
    """Return who types: the name that goes into the history."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "operator"


def print_json(value: Any) -> None:
    """Print dataclasses, enums and plain values as JSON on standard output."""
    sys.stdout.write(json.dumps(plain(value), indent=2) + "\n")


def plain(value: Any) -> Any:
    """Return dataclasses as dicts and enums as their values, all the way down."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, frozenset):
        return sorted(plain(each) for each in value)
    return value


_SPAN = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?) ?(s|min|m|h|d|w)")


def span(text: str) -> float:
    """Return the seconds of "90m", "12h", "30d" or "4w"; FleetError for anything else."""
    found = _SPAN.fullmatch(text.strip())
    if found is None:
        raise FleetError(f"{text!r} is not a span of time; expected one such as 90m, 12h, 30d or 4w")
    return float(found.group(1)) * UNITS[found.group(2)]


def stamp(at: float) -> str:
    """Return a time as people read it, in UTC."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S")

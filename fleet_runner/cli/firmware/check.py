"""fleet-runner firmware check: what is wrong with catalogues and images, told before any node is asked."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from fleet_runner import settings
from fleet_runner.adapters.files import catalogues
from fleet_runner.adapters.files.catalogues import CatalogueProblem
from fleet_runner.cli.base.options import Json
from fleet_runner.cli.base.session import Exit, console, errors, print_json
from fleet_runner.core.base.errors import FleetError

SOON = 2.0
"""Seconds after which a person wants to know what takes so long."""


def check(
    *,
    images: Annotated[bool, typer.Option(help="read the images, too, and compare their SHA-256")] = True,
    json: Json = False,
) -> None:
    """Check the catalogues of all device types, and their images; no node is contacted.

    One line for what is wrong, with file and line first. Exit code 1 where there is any.
    """
    chosen = settings.load()
    files = catalogues.files(chosen)
    if not files:
        folder = chosen.inventory_file.parent / "group_vars"
        raise FleetError(f"{folder} has no {catalogues.FILES[0]}; write one, or correct the setting inventory")
    read: list[Path] = []
    with _progress() as tell:

        def reading(path: Path) -> None:
            read.append(path)
            tell(path)

        slips = catalogues.check_files(chosen, images=images, reading=reading)
    if json:
        print_json([_plain(slip) for slip in slips])
    else:
        for slip in slips:
            console.print(f"{_near(slip.file)}:{slip.line}: {slip.text}", markup=False, soft_wrap=True)
        counted = f"{_count(len(files), 'device type')}, {_count(len(set(read)), 'image')}"
        unread = "" if images else " (images were not read)"
        console.print(f"{counted}: {_count(len(slips), 'slip') if slips else 'nothing is wrong'}{unread}")
    if slips:
        raise typer.Exit(Exit.NO)


@contextmanager
def _progress() -> Iterator[Callable[[Path], None]]:
    """Say on a terminal which image is read, once that has taken a moment; they are of any size."""
    if not errors.is_terminal:
        yield lambda _: None
        return
    began = time.monotonic()
    shown = errors.status("")
    clock = threading.Timer(SOON, shown.start)
    clock.start()

    def reading(path: Path) -> None:
        size, since = path.stat().st_size / 1e6 if path.is_file() else 0.0, time.monotonic() - began
        shown.update(f"reads {path.name}, {size:.0f} MB{f', {since:.0f} s so far' if since > 1 else ''}")
        if since >= SOON:
            shown.start()

    try:
        yield reading
    finally:
        clock.cancel()
        clock.join()
        shown.stop()


def _plain(slip: CatalogueProblem) -> dict[str, object]:
    return {"file": str(slip.file), "line": slip.line, "text": slip.text, "grave": slip.grave}


def _near(path: Path) -> str:
    """Return a path as it is typed here, where it lies below the working directory."""
    return os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"

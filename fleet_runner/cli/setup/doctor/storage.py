"""The store, and the disk that it and running plays lie on."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from fleet_runner.adapters.store import Store
from fleet_runner.cli.setup.doctor.finding import Finding, Site, ok, warning, wrong
from fleet_runner.core.base.errors import NoStoreError, SchemaError

PATIENCE = 3.0  # seconds that the store is waited for
LITTLE, TOO_LITTLE = 2e9, 2e8
"""Free bytes below which there is little room, and too little for evidence of one sweep of a large fleet."""

OLDER = "stop serve everywhere, then: fleet-runner db backup FILE && fleet-runner db migrate"
NEWER = "install the release that served it last; an older one cannot go on with it"


def store(site: Site) -> Iterator[Finding]:
    """Say whether the store is there, has this release's schema, and can be written."""
    try:
        with Store.open(site.settings.store_url, patience=PATIENCE, reading=True) as found:
            refusal, count = found.refusal, len(found.nodes())
    except NoStoreError:
        where = "the database" if site.settings.database_url else site.settings.state_dir
        yield warning("store", f"{where} has no store yet", "fleet-runner tick creates it")
        return
    except SchemaError as error:
        yield wrong("store", str(error), NEWER if error.newer else OLDER)
        return
    if refusal:
        yield wrong("store", f"it can only be read: {refusal}", "free the disk, or correct its owner")
    elif why := _unwritable(site):
        yield wrong("store", why, "run fleet-runner as its owner, or correct the owner")
    else:
        yield ok("store", f"it has the schema of this release, and {count} nodes")


def disk(site: Site) -> Iterator[Finding]:
    """Say whether there is room, and whether the folder of the state can be written."""
    folder = site.settings.state_dir
    there = next(each for each in (folder, *folder.parents) if each.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        yield wrong("disk", f"{there} cannot be written by this user", "correct its owner, or state_dir")
        return
    free = shutil.disk_usage(there).free
    said = f"{free / 1e9:.1f} GB free at {there}"
    if free < LITTLE:
        grade = wrong if free < TOO_LITTLE else warning
        yield grade("disk", said, "free the disk; fleet-runner db stats shows the store's contents")
    else:
        yield ok("disk", said)


def _unwritable(site: Site) -> str:
    """Return why this user cannot write a store in a file."""
    if site.settings.database_url:
        return ""
    file = Path(site.settings.state_dir) / "fleet.db"
    return "" if os.access(file, os.W_OK) else f"{file} cannot be written by this user"

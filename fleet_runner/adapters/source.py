"""Which source of truth the settings name: a folder of site files, or a NetBox."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from fleet_runner.adapters import sitefiles
from fleet_runner.adapters.files import secret as secret_file
from fleet_runner.adapters.logs import log
from fleet_runner.core.base.errors import SettingsError, SourceError, SourceUnavailableError
from fleet_runner.core.inventory.placement import patterns, reaches
from fleet_runner.settings import Settings, origin

if TYPE_CHECKING:
    from collections.abc import Collection

    from fleet_runner.adapters.netbox import Snapshot
    from fleet_runner.core.inventory.records import Fleet

Signature = tuple[object, ...]


def read(settings: Settings, *, as_kept: bool = False) -> Fleet:
    """Read everything the source of truth says, or raise SourceError with all that is wrong with it.

    With `as_kept` a NetBox is not asked where this machine keeps what it said: what a runner starts works with what
    the runner knows.
    """
    if "://" not in settings.source:
        folder = Path(settings.source)
        if not folder.exists():
            raise SourceError(
                f"{folder}: there is no such folder; it is the setting source, {origin('source')}; name a folder of"
                " site files there, or a NetBox's URL"
            )
        return sitefiles.load(folder)
    from fleet_runner.adapters import netbox  # noqa: PLC0415  its client is slow to load, and site folders need none

    kept = netbox.as_kept(settings.source, token(settings), _kept(settings)) if as_kept else None
    return netbox.fleet(kept or follow(settings), settings.source)


def follow(settings: Settings, before: Snapshot | None = None) -> Snapshot:
    """Read the NetBox of the settings: only what changed since `before`, or since this machine read it last.

    Where it is away and nothing was read before, what this machine keeps will do; the log says so.
    """
    from fleet_runner.adapters import netbox  # noqa: PLC0415  as above

    secret = token(settings)
    try:
        return netbox.snapshot(settings.source, secret, kept=_kept(settings), before=before)
    except SourceUnavailableError as error:
        found = netbox.as_kept(settings.source, secret, _kept(settings)) if before is None else None
        if found is None:
            raise
        log.warning("the NetBox is away; what this machine read of it last is in use", why=str(error))
        return found


def _kept(settings: Settings) -> Path:
    """Return the file that keeps what was read of a NetBox."""
    said = sha256(settings.source.encode()).hexdigest()[:12]
    return settings.state_dir / "cache" / f"netbox-{said}.json"


def may_be_told(settings: Settings) -> bool:
    """Whether cable statuses are written to the source of truth: a NetBox whose owner said so, never a folder."""
    return settings.netbox_write_cable_status and "://" in settings.source


def connect_cables(settings: Settings, ids: Collection[int]) -> tuple[int, list[str]]:
    """Call planned cables of the NetBox connected; return how many it did, and why it did not others."""
    from fleet_runner.adapters import netbox  # noqa: PLC0415  as above

    written = netbox.connect_cables(settings.source, token(settings), ids)
    return written.done, written.warnings


def token(settings: Settings) -> str:
    """Return the token for the NetBox of the settings, read anew: it may have been replaced."""
    file = settings.netbox_token_file
    if file is None:
        raise SettingsError(
            f"source is the NetBox at {settings.source}, but netbox_token_file is not set; "
            "put the token into a file of mode 0600 and name it there"
        )
    return secret_file.text(file, "a NetBox token")


@dataclass(slots=True)
class Reader:
    """Reads the source of truth again and again; what nobody changed is not made into a fleet twice.

    `snapshot` is what a NetBox said last, also where no fleet can be made of it.
    """

    settings: Settings
    fleet: Fleet | None = None
    signature: Signature = ()
    snapshot: Snapshot | None = None

    def __call__(self) -> Fleet:
        """Return what the source says now."""
        signature: Signature
        if "://" in self.settings.source:
            self.snapshot = follow(self.settings, self.snapshot)
            signature = (self.snapshot.rows, self.snapshot.notes)
        else:
            signature = _signature(self.settings.source)
        if self.fleet is None or signature != self.signature:
            first, self.fleet = self.fleet is None, self._fleet()
            self.signature = signature
            if first and (unknown := _unknown(self.settings, self.fleet)):
                log.warning("runner_places names what no site and no rack matches; correct it", unknown=unknown)
        return self.fleet

    def _fleet(self) -> Fleet:
        if self.snapshot is None:
            return read(self.settings)
        from fleet_runner.adapters import netbox  # noqa: PLC0415  as above

        return netbox.fleet(self.snapshot, self.settings.source)


def _unknown(settings: Settings, fleet: Fleet) -> list[str]:
    """Return the places of this runner that the source of truth does not know: typing errors, as a rule."""
    known = (*fleet.sites, *fleet.racks)
    return [each for each in patterns(settings.runner_places) if not any(reaches((each,), place) for place in known)]


def _signature(source: str) -> Signature:
    """Return name, size and time of every site file."""
    try:
        files = [(path, path.stat()) for path in sorted(Path(source).rglob("*.y*ml"))]
    except OSError as error:
        raise SourceError(f"{source}: {error.strerror}; name a folder of site files that can be read") from error
    return tuple((str(path), found.st_size, found.st_mtime_ns) for path, found in files)

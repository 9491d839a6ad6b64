"""What one look gave: a fabric's sweep or files, judged, with what a person should know of it beside the verdicts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fleet_runner.cli.cabling.captures import Capture, Neighbours, from_files
from fleet_runner.cli.cabling.design import Design
from fleet_runner.cli.cabling.text import other_names, strange_adapters
from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.cabling.fabrics import Fabric
from fleet_runner.core.cabling.judge import Verdicts
from fleet_runner.core.cabling.names import device_of


@dataclass(frozen=True, slots=True)
class Look:
    """One judged look. `fabric` is "" where nobody says which it is of; `run` is the sweep's number."""

    label: str
    verdicts: Verdicts
    fabric: str = ""
    run: int | None = None
    hints: tuple[str, ...] = ()


def at_files(should: Design, paths: Sequence[Path], fabric: Fabric | None) -> Look:
    """Judge what files say."""
    return look(should, from_files(paths, lambda name: device_named(should, name)), fabric)


def look(should: Design, seen: Capture | Neighbours, fabric: Fabric | None) -> Look:
    """Judge what was seen; an error names where."""
    name = fabric.name if fabric else ""
    try:
        verdicts, left = _identifying(should, seen).judge(seen, fabric)
    except EvidenceError as error:
        raise EvidenceError(f"{seen.label}: {error}") from error
    if isinstance(seen, Neighbours):
        strange = () if seen.run else map(_strange, should.strange(seen))
        unread = (f"{switch} was not read: {why}" for switch, why in sorted(seen.unread.items()))
        named = other_names(verdicts, should.ethernet.names.spoken)
        hints = (*filter(None, [left]), *unread, *strange, *named)
        return Look(seen.label, verdicts, name, seen.run.id if seen.run else None, hints)
    unplaced = strange_adapters(seen.discovery, verdicts, should.names.spoken)
    hints = (*filter(None, [left]), *_skipped(seen), *seen.discovery.lacks, *unplaced)
    return Look(seen.label, verdicts, name, seen.run.id if seen.run else None, hints)


def _identifying(should: Design, seen: Capture | Neighbours) -> Design:
    """Return the design with the GUIDs that are seen, where no other is known to be gone: it may just not be told."""
    if isinstance(seen, Neighbours) or seen.discovery.identified:
        return should
    told = {end.guid for each in seen.discovery.links for end in each[:2]}
    guids = {guid: port for guid, port in should.names.guids.items() if guid in told}
    return replace(should, names=replace(should.names, guids=guids))


def device_named(should: Design, name: str) -> str:
    """Return the Ethernet device of the design that a name means; "" for none."""
    device, ports = device_of(should.aliases.get(name, name), should.ethernet.names)
    return device if ports else ""


def _skipped(seen: Capture) -> tuple[str, ...]:
    """Say which lines are no part of what the tool wrote."""
    skipped = seen.discovery.skipped
    if not skipped:
        return ()
    number, line = skipped[0]
    count = f"{len(skipped)} lines" if len(skipped) > 1 else "1 line"
    return (f"{count} skipped that can be no record, the first: line {number}, {line[:60]!r}.",)


def _strange(device: str) -> str:
    return f"No Ethernet cable of {device} is designed; what its capture says is judged by names."

"""A folder of site files brought to what a fleet says, without losing what somebody else wrote there."""

import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from fleet_runner.adapters.sitefiles import load, writing
from fleet_runner.adapters.sitefiles.folder import KINDS, SUFFIXES
from fleet_runner.core.base.errors import SourceError
from fleet_runner.core.inventory.records import Fleet

MARK = re.compile(r"# Pulled from (.{1,500}); sha256 of the lines below: ([0-9a-f]{64})\. Edit freely: .*\n")
"""The first line of a file that was pulled: whoever edits the rest has it told from one that nobody did."""


NAMES = frozenset(f"{kind}.yml" for kind in KINDS)
"""The files that a pull writes."""


class Change(StrEnum):
    """What becomes of one file."""

    NEW = "new"
    CHANGED = "changed"
    SAME = "same"
    GONE = "gone"
    EDITED = "edited"
    FOREIGN = "foreign"


@dataclass(frozen=True, slots=True)
class Pull:
    """The texts for a folder, and what becomes of each file there; `whole` is the text with its first line."""

    folder: Path
    whole: Mapping[str, str]
    changes: Mapping[str, Change]

    def of(self, *some: Change) -> list[str]:
        """Return the names of the files with which this happens."""
        return [name for name, change in self.changes.items() if change in some]


def plan(fleet: Fleet, folder: Path, source: str) -> Pull:
    """Return what a pull would do to a folder; raise SourceError for a fleet that site files cannot tell."""
    texts = writing.texts(fleet)
    _prove(fleet, texts, source)
    whole = {name: _marked(text, source) for name, text in texts.items()}
    mine = {name: _change(folder / name, whole[name], source) for name in whole}
    return Pull(folder, whole, {**_here(folder, whole, source), **mine})


def write(pull: Pull) -> None:
    """Write each file that is not the same, whole or not at all, and take out those that a pull wrote before."""
    try:
        pull.folder.mkdir(parents=True, exist_ok=True)
        for name in pull.of(Change.NEW, Change.CHANGED, Change.EDITED):
            part = pull.folder / f".{name}.part"  # hidden: no site file until it has its name
            part.unlink(missing_ok=True)  # of a pull that was interrupted, or a link that somebody laid
            with part.open("x", encoding="utf-8") as stream:
                stream.write(pull.whole[name])
            if (pull.folder / name).is_file():
                shutil.copymode(pull.folder / name, part)
            part.replace(pull.folder / name)
        for name in pull.of(Change.GONE):
            (pull.folder / name).unlink(missing_ok=True)
    except OSError as error:
        raise SourceError(f"{pull.folder}: cannot be written ({error}); correct that, then pull again") from error


def _prove(fleet: Fleet, texts: Mapping[str, str], source: str) -> None:
    """Read what would be written, and refuse where it says anything else."""
    if not texts:
        raise SourceError(f"{source}: it has no site, rack, device or cable; there is nothing to write")
    with TemporaryDirectory() as name:
        for file, text in texts.items():
            (Path(name) / file).write_text(text, "utf-8")
        try:
            found = load(Path(name))
        except SourceError as error:
            text = str(error).replace(f"{name}{os.sep}", "").replace(name, "site files")
            raise SourceError(f"{source}: cannot be written to site files; correct it in NetBox: {text}") from None
    if (slip := _difference(_bare(fleet), _bare(found))) is not None:
        raise SourceError(f"{source}: {slip} cannot be written to site files as it is; correct it in NetBox")


def _bare(fleet: Fleet) -> Fleet:
    """Return a fleet without what only its source gives it: ids, notes, the revision."""
    return replace(fleet, cables=tuple(replace(cable, id=None) for cable in fleet.cables), revision="", notes=())


def _difference(fleet: Fleet, found: Fleet) -> str | None:
    if fleet == found:
        return None
    for what in ("racks", "device_types", "devices"):
        for name, record in getattr(fleet, what).items():
            if getattr(found, what).get(name) != record:
                return f"{what.removesuffix('s').replace('_', ' ')} {name}"
    return next(
        (f"cable {a.a} to {a.b}" for a, b in zip(fleet.cables, found.cables, strict=False) if a != b), "a site"
    )


def _marked(text: str, source: str) -> str:
    digest = sha256(text.encode()).hexdigest()
    first = f"# Pulled from {source}; sha256 of the lines below: {digest}."
    return f"{first} Edit freely: a pull then asks before it writes over this file.\n{text}"


def _here(folder: Path, whole: Mapping[str, str], source: str) -> dict[str, Change]:
    """Return what is to become of site files in a folder that would be read beside those written.

    A copy of a pulled file elsewhere in the folder is its owner's.
    """
    found: dict[str, Change] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        hidden = any(part.startswith(".") for part in Path(name).parts)
        if path.suffix in SUFFIXES and not hidden and name not in whole:
            gone = name in NAMES and _untouched(path, source)
            found[name] = Change.GONE if gone else Change.FOREIGN
    return found


def _change(path: Path, whole: str, source: str) -> Change:
    if not os.path.lexists(path):
        return Change.NEW
    if _read(path) == whole:
        return Change.SAME
    return Change.CHANGED if _untouched(path, source) else Change.EDITED


def _untouched(path: Path, source: str) -> bool:
    """Whether a file is as a pull from the same source wrote it, and no link."""
    found = _read(path)
    mark = MARK.match(found)
    if mark is None or path.is_symlink() or mark[1].rstrip("/") != source.rstrip("/"):
        return False
    return sha256(found[mark.end() :].encode()).hexdigest() == mark[2]


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8") if path.is_file() else ""
    except (OSError, UnicodeDecodeError):
        return ""

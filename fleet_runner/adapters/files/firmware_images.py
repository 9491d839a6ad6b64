"""Firmware images as they lie on disk: held against the catalogue before anything is sent."""

import hashlib
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from fleet_runner.core.base.errors import EvidenceError, ImageError
from fleet_runner.core.checks.parsers import pldm_package
from fleet_runner.core.checks.parsers.pldm_package import ComponentImage
from fleet_runner.core.firmware.catalogue import Image

LEAST = 2
"""Words of a package's version that may stand for a longer one of an inventory ("1.4" for "Ver 1.4 of 2023")."""

_WORDS = re.compile(r"[0-9]+|[a-z]+")

_known: dict[tuple[Path, int, int, int], str] = {}
"""Checksums by path, size, moment of the last change, and inode: what makes a file another one."""


PIECE = 1 << 20


def _at_ease() -> None:
    """Nobody has to be alive."""


def check(
    folder: Path,
    image: Image,
    wanted: Mapping[str, str],
    software_ids: Mapping[str, str],
    alive: Callable[[], None] = _at_ease,
) -> None:
    """Raise an ImageError unless a file is the catalogue's image and, if it is a PLDM package, is for these entries.

    `wanted` are the versions that it is to bring, by inventory id; `software_ids` what the BMC says of the same ids.
    `alive` is called while a long file is read, and may raise.
    """
    path = locate(folder, image.file)
    found = sha256(path, alive)
    if found != image.sha256:
        raise ImageError(
            f"{path} has the SHA-256 {found}, expected {image.sha256}; fetch it again, or correct the catalogue"
        )
    components = _components(path)
    for entry, version in wanted.items() if components is not None else ():
        _brings(path, components or (), (entry, version), software_ids.get(entry, ""))


def locate(folder: Path, file: str) -> Path:
    """Return a file below the folder of images; ImageError where there is none, and for one that leads out of it."""
    path = folder / file
    try:
        real, root = path.resolve(strict=True), folder.resolve(strict=True)
    except (OSError, ValueError, RuntimeError) as error:
        raise ImageError(f"{path} is not there; put the image there, or correct the catalogue") from error
    if not real.is_relative_to(root):
        raise ImageError(f"{path} lies outside {folder}, at {real}; copy the image there")
    if not real.is_file():
        raise ImageError(f"{path} is no file; put the image there, or correct the catalogue")
    return path


def sha256(path: Path, alive: Callable[[], None] = _at_ease) -> str:
    """Return a file's SHA-256 in hex; it is read once for as long as it stays the same file."""
    try:
        with path.open("rb") as file:
            key = _key(path, file.fileno())
            if key not in _known:
                read = hashlib.sha256()
                while piece := file.read(PIECE):
                    alive()
                    read.update(piece)
                found = read.hexdigest()
                if _key(path, file.fileno()) != key:
                    raise ImageError(f"{path} changes while it is read; wait until it is complete")
                _known[key] = found
            return _known[key]
    except OSError as error:
        raise ImageError(f"{path} cannot be read ({error.strerror}); make it readable") from error


def _key(path: Path, descriptor: int) -> tuple[Path, int, int, int]:
    found = os.fstat(descriptor)
    return path, found.st_size, found.st_mtime_ns, found.st_ino


def _components(path: Path) -> tuple[ComponentImage, ...] | None:
    """Return what a PLDM package brings; None for any other file, of which only its checksum speaks."""
    try:
        with path.open("rb") as file:
            head = file.read(pldm_package.MOST_BYTES)
        if not pldm_package.is_package(head):
            return None
        return pldm_package.parse(head, path.stat().st_size).components
    except (EvidenceError, OSError) as error:
        raise ImageError(f"{path}: {error}") from error


def _brings(path: Path, components: tuple[ComponentImage, ...], wanted: tuple[str, str], software_id: str) -> None:
    """Raise an ImageError unless one component has an entry's software id, if that is known, and its version."""
    entry, version = wanted
    number = _number(software_id)
    mine = [each for each in components if number is None or each.identifier == number]
    if not mine:
        has = ", ".join(dict.fromkeys(f"0x{each.identifier:04X}" for each in components)) or "nothing"
        raise ImageError(
            f"{path} is a PLDM package for {has}, expected {software_id}, which {entry} is; correct the catalogue"
        )
    if not any(_same(version, each.version) for each in mine):
        has = ", ".join(dict.fromkeys(each.version for each in mine))
        raise ImageError(f"{path} brings {entry} version {has:.200}, expected {version}; correct the catalogue")


def _number(software_id: str) -> int | None:
    """Return a software id as packages write it; None for vendors' other ones."""
    try:
        return int(software_id, 16) if software_id.lower().startswith("0x") else None
    except ValueError:
        return None


def _same(inventory: str, package: str) -> bool:
    """Whether two texts name one version: packages write 2.07.19 for 2.7.19, and inventories add dates to them."""
    longer, shorter = _words(inventory), _words(package)
    if len(longer) < len(shorter):
        longer, shorter = shorter, longer
    starts = range(len(longer) - len(shorter) + 1)
    enough = len(shorter) >= min(LEAST, len(longer))
    return enough and bool(shorter) and any(longer[at : at + len(shorter)] == shorter for at in starts)


def _words(version: str) -> list[str]:
    return [word.lstrip("0") or "0" for word in _WORDS.findall(version.lower())]

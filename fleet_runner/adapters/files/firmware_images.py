"""Firmware images as they lie on disk: held against the catalogue before anything is sent."""

import hashlib
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from zlib import crc32

from fleet_runner.core.base.errors import EvidenceError, ImageError
from fleet_runner.core.firmware import pldm_package
from fleet_runner.core.firmware.catalogue import Image
from fleet_runner.core.firmware.pldm_package import Package

LEAST = 2
"""Words of a package's version that may stand for a longer one of an inventory ("1.4" for "Ver 1.4 of 2023")."""

_WORDS = re.compile(r"[0-9]+|[a-z]+")

_known: dict[tuple[Path, int, int, int], str] = {}
"""Checksums by path, size, moment of the last change, and inode: what makes a file another one."""

_whole: set[tuple[Path, int, int, int]] = set()
"""PLDM packages whose images have the checksum that their headers say."""

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
    package = _package(path)
    if package is None:
        return
    _payload(path, package, alive)
    for entry, version in wanted.items():
        _brings(path, package, (entry, version), software_ids.get(entry, ""))


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


def _package(path: Path) -> Package | None:
    """Return what a PLDM package says of itself; None for any other file, of which only its checksum speaks."""
    try:
        with path.open("rb") as file:
            head = file.read(pldm_package.MOST_BYTES)
        if not pldm_package.is_package(head):
            return None
        return pldm_package.parse(head, path.stat().st_size)
    except (EvidenceError, OSError) as error:
        raise ImageError(f"{path}: {error}") from error


def _payload(path: Path, package: Package, alive: Callable[[], None]) -> None:
    """Raise an ImageError unless a package's images have the checksum that its header says, if it says one."""
    if package.payload_crc32 is None:
        return
    try:
        with path.open("rb") as file:
            key = _key(path, file.fileno())
            if key in _whole:
                return
            file.seek(package.header_bytes)
            counted = 0
            while piece := file.read(PIECE):
                alive()
                counted = crc32(piece, counted)
    except OSError as error:
        raise ImageError(f"{path} cannot be read ({error.strerror}); make it readable") from error
    if counted != package.payload_crc32:
        raise ImageError(
            f"{path} is a PLDM package whose images have the checksum {counted:08x}, expected"
            f" {package.payload_crc32:08x}, as its header says; fetch it again"
        )
    _whole.add(key)


def _brings(path: Path, package: Package, wanted: tuple[str, str], software_id: str) -> None:
    """Raise an ImageError unless a component that some device is given has an entry's software id and version."""
    entry, version = wanted
    number = _number(software_id)
    mine = [each for each in package.given if number is None or each.identifier == number]
    if not mine:
        has = ", ".join(dict.fromkeys(f"0x{each.identifier:04X}" for each in package.given)) or "nothing"
        raise ImageError(
            f"{path} is a PLDM package for {has}, expected {software_id or 'some component'}, which {entry} is;"
            " correct the catalogue"
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

"""Boot images: folders with a manifest, of which nothing is served whose checksum is not the manifest's."""

import asyncio
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from fleet_runner.core.errors import ImageError

MANIFEST = "manifest.json"
BUILDS = ".builds"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}(@[0-9a-f]{16})?")

Stamp = tuple[int, int, int]


class File(NamedTuple):
    """One file of an image, as its manifest has it."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Image:
    """An image: `build` names these very files, also when `name` has come to mean newer ones."""

    name: str
    build: str
    folder: Path
    kernel: str
    initrd: str
    cmdline: str
    files: Mapping[str, File]


class Images:
    """The images of a folder. Each file is read whole before it is served, and again when it changes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._images: dict[str, tuple[Path, Stamp, Image]] = {}
        self._good: dict[Path, Stamp] = {}
        self._reading = asyncio.Lock()

    async def image(self, name: str) -> Image:
        """Return an image by its name or by the name of a build, or raise ImageError."""
        if not _NAME.fullmatch(name):
            raise ImageError(f"image {name!r:.80}: this is no name of an image")
        manifest = (self._folder / (BUILDS if "@" in name else "") / name).resolve() / MANIFEST
        stamp = _stamp(manifest)
        known = self._images.get(name)
        if known is None or known[:2] != (manifest, stamp):
            known = (manifest, stamp, await asyncio.to_thread(_read, manifest, name))
            self._images[name] = known
        return known[2]

    async def file(self, image: Image, name: str) -> tuple[Path, str]:
        """Return where a file of an image lies and its SHA-256; ImageError where it is not what the manifest says."""
        its, path = image.files.get(name), image.folder / name
        if its is None:
            raise ImageError(f"image {image.name}: it has no file {name!r:.80}")
        if self._good.get(path) != _stamp(path):
            async with self._reading:
                stamp = _stamp(path)
                if self._good.get(path) != stamp:
                    await asyncio.to_thread(_verify, path, its)
                    self._good[path] = stamp
        return path, its.sha256


def _read(manifest: Path, name: str) -> Image:
    try:
        told: Any = json.loads(manifest.read_text("utf-8"))
        files = {str(file): File(int(each["size"]), str(each["sha256"])) for file, each in told["files"].items()}
        kernel, initrd, cmdline = str(told["kernel"]["file"]), str(told["initrd"]), str(told["cmdline"])
    except OSError as error:
        raise ImageError(
            f"image {name}: {manifest}: {error.strerror}; build it with playbooks/boot_image.yml"
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ImageError(
            f"{manifest}: it is no manifest of an image ({error!r:.80}); build the image anew"
        ) from error
    folder = manifest.parent
    build = folder.name if folder.parent.name == BUILDS else name
    if {kernel, initrd} - files.keys() or any(not _NAME.fullmatch(file) for file in files):
        raise ImageError(f"{manifest}: it lacks kernel or initrd, or names files outside its folder; build it anew")
    return Image(name.partition("@")[0], build, folder, kernel, initrd, cmdline, files)


def _verify(path: Path, its: File) -> None:
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != its.sha256:
        raise ImageError(f"{path}: SHA-256 is {found}, expected {its.sha256} by its manifest; build the image anew")


def _stamp(path: Path) -> Stamp:
    try:
        found = path.stat()
    except OSError as error:
        raise ImageError(f"{path}: {error.strerror}; build the image with playbooks/boot_image.yml") from error
    return (found.st_mtime_ns, found.st_size, found.st_ino)

"""Boot images: folders with a manifest, of which nothing is served whose checksum is not the manifest's."""

import asyncio
import hashlib
import stat
from dataclasses import dataclass
from pathlib import Path

from fleet_runner.core.base.errors import ImageError
from fleet_runner.core.boot import manifest
from fleet_runner.core.boot.manifest import File, Manifest

MANIFEST = "manifest.json"
BUILDS = ".builds"

LOOK_SECONDS = 1.0
"""For how long a manifest is not looked at again: each script names its image."""

Stamp = tuple[int, int, int]
"""What changes when a file does, whoever hides it: the time of its inode's last change in ns, its size, its inode."""


@dataclass(frozen=True, slots=True)
class Image:
    """An image: `build` names these very files, also when `name` has come to mean newer ones."""

    name: str
    build: str
    folder: Path
    manifest: Manifest


class Images:
    """The images of a folder. Each file is read whole before it is served, and again when it changes."""

    def __init__(self, folder: Path, seconds: float = LOOK_SECONDS) -> None:
        self._folder = folder
        self._seconds = seconds
        self._images: dict[str, tuple[float, Stamp, Image]] = {}
        self._good: dict[Path, Stamp] = {}
        self._reading = asyncio.Lock()

    async def image(self, name: str) -> Image:
        """Return an image by its name or by the name of a build, or raise ImageError."""
        known, now = self._images.get(name), asyncio.get_running_loop().time()
        if known is None or now - known[0] >= self._seconds:
            known = (now, *await asyncio.to_thread(self._looked, name, known))
            self._images[name] = known
        return known[2]

    async def file(self, image: Image, name: str) -> tuple[Path, str]:
        """Return where a file of an image lies and its SHA-256; ImageError where it is not what the manifest says."""
        its, path = image.manifest.files.get(name), image.folder / name
        if its is None:
            raise ImageError(f"image {image.name}: it has no file {name!r:.80}")
        if self._good.get(path) != await asyncio.to_thread(_stamp, path):
            async with self._reading:
                stamp = await asyncio.to_thread(_stamp, path)
                if self._good.get(path) != stamp:
                    await asyncio.to_thread(_verify, path, its)
                    self._good[path] = stamp
        return path, its.sha256

    def _looked(self, name: str, known: tuple[float, Stamp, Image] | None) -> tuple[Stamp, Image]:
        """Look at an image's manifest, and read it where it is another."""
        path = _manifest(self._folder, name)
        stamp = _stamp(path)
        image = known[2] if known is not None and known[1] == stamp else _read(path, name)
        return stamp, image


def names(folder: Path) -> list[str]:
    """Return the names of a folder's images, whatever they are worth; none where there is no such folder."""
    if not folder.is_dir():
        return []
    return sorted(path.name for path in folder.iterdir() if manifest.named(path.name) and not path.is_file())


def verified(folder: Path, name: str) -> Image:
    """Return an image of which every file was read and is what its manifest says, or raise ImageError."""
    path = _manifest(folder, name)
    _stamp(path)
    image = _read(path, name)
    for file, its in image.manifest.files.items():
        _stamp(image.folder / file)
        _verify(image.folder / file, its)
    return image


def _manifest(folder: Path, name: str) -> Path:
    if not manifest.named(name):
        raise ImageError(f"image {name!r:.80}: not a valid image name")
    return (folder / (BUILDS if "@" in name else "") / name).resolve() / MANIFEST


def _read(path: Path, name: str) -> Image:
    try:
        found = manifest.parse(path.read_text("utf-8"))
    except OSError as error:
        raise ImageError(f"{path}: {error.strerror}; let who runs the boot service read it") from error
    except (ImageError, UnicodeDecodeError) as error:
        raise ImageError(f"{path}: {error}; build the image again with playbooks/boot_image.yml") from error
    folder = path.parent
    build = folder.name if folder.parent.name == BUILDS and manifest.named(folder.name) else name
    return Image(name.partition("@")[0], build, folder, found)


def _verify(path: Path, its: File) -> None:
    try:
        size = path.stat().st_size
        found = _sha256(path) if size == its.size else f"that of {size} bytes instead of {its.size}"
    except OSError as error:
        raise ImageError(f"{path}: {error.strerror}; let who runs the boot service read it") from error
    if found != its.sha256:
        raise ImageError(f"{path}: SHA-256 is {found}, expected {its.sha256} by its manifest; build the image again")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _stamp(path: Path) -> Stamp:
    try:
        found = path.stat()
    except OSError as error:
        raise ImageError(f"{path}: {error.strerror}; build the image with playbooks/boot_image.yml") from error
    if not stat.S_ISREG(found.st_mode):
        raise ImageError(f"{path}: not a regular file; build the image again")
    return (found.st_ctime_ns, found.st_size, found.st_ino)

"""The files of a site folder, read whole: names, contents, and one hash over them."""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from fleet_runner.core.base.errors import SourceError
from fleet_runner.core.inventory.consistency import Problem, show

KINDS = ("sites", "locations", "roles", "racks", "device_types", "devices", "cables")
SUFFIXES = (".yml", ".yaml")
MAX_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class File:
    """A site file: the kind of its records, its name inside the folder, and its text."""

    kind: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Folder:
    """All site files, by name, and the hash of their contents."""

    files: tuple[File, ...]
    revision: str


def read(folder: Path, problems: list[Problem]) -> Folder:
    """Read every site file; one that cannot be read is a problem, a folder that cannot is a SourceError."""
    try:
        root = folder.resolve(strict=True)
        paths = sorted(_yaml_files(root))
    except (OSError, RuntimeError) as error:
        raise SourceError(f"{folder}: cannot read the site folder ({error}); name a folder of site files") from error
    if not paths:
        raise SourceError(
            f"{folder}: no site files; expected sites.yml, racks.yml, device_types.yml, devices.yml ..."
        )
    files: list[File] = []
    digest = sha256()
    for path in paths:
        name = path.relative_to(root).as_posix()
        kind = _kind(name)
        if kind not in KINDS:
            problems.append(Problem(name, f"found {show(name)}, which is no kind of site file", kind, KINDS))
            continue
        content = _content(path, root, name, problems)
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
        files.append(File(kind, name, _text(content, name, problems)))
    return Folder(tuple(files), digest.hexdigest())


def _yaml_files(root: Path) -> Iterator[Path]:
    if not root.is_dir():
        raise NotADirectoryError(f"{root} is not a folder")
    for path in root.rglob("*"):
        hidden = any(part.startswith(".") for part in path.relative_to(root).parts)
        if path.suffix in SUFFIXES and not hidden:
            yield path


def _kind(name: str) -> str:
    first = name.partition("/")[0]
    for suffix in SUFFIXES:
        first = first.removesuffix(suffix)
    return first.replace("-", "_")


def _content(path: Path, root: Path, name: str, problems: list[Problem]) -> bytes:
    try:
        real = path.resolve(strict=True)
        if not real.is_relative_to(root):
            problems.append(Problem(name, f"links to {real}, outside the site folder; copy the file into it"))
        elif not real.is_file():
            problems.append(Problem(name, "is not a file; expected YAML"))
        elif real.stat().st_size > MAX_BYTES:
            problems.append(
                Problem(name, f"is larger than {MAX_BYTES // 1024**2} MiB; split it into a folder of files")
            )
        else:
            return real.read_bytes()
    except (OSError, RuntimeError) as error:
        problems.append(Problem(name, f"cannot be read ({error}); correct that, or take it out"))
    return b""


def _text(content: bytes, name: str, problems: list[Problem]) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        problems.append(Problem(f"{name}:{line}", "is not UTF-8 text; save it as UTF-8"))
        return ""

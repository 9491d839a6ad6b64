"""What a boot image says it is: its files with their checksums, its packages, and how its kernel is started."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from fleet_runner.core.base.errors import ImageError

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
"""What an image or a file of one may be called: one step of a path, and of a URL."""

_BUILD = re.compile(rf"{NAME.pattern}@[0-9a-f]{{16}}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_CMDLINE = re.compile(r"[ -~]*")  # it becomes a line of an iPXE script, and must not become two


class File(NamedTuple):
    """One file of an image: its size in bytes, and its SHA-256 in hex."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What `kernel` and `initrd` name is in `files`. `packages` are versions by "package:architecture".

    An image that was made by other means may leave out its packages and the version of its kernel.
    """

    kernel: str
    kernel_version: str
    initrd: str
    cmdline: str
    files: Mapping[str, File]
    packages: Mapping[str, str]


def named(name: str) -> bool:
    """Whether this is how an image is called, by its name or by one of its builds: "debian-12@0123456789abcdef"."""
    return bool(NAME.fullmatch(name) or _BUILD.fullmatch(name))


def parse(text: str) -> Manifest:
    """Read a manifest, or raise an ImageError that says what of it is unusable, to follow the manifest's path."""
    try:
        told: Any = json.loads(text)
    except ValueError as error:
        raise ImageError(f"it is no JSON ({error})") from error
    except RecursionError as error:
        raise ImageError("it is no manifest: it is nested too deep") from error
    files = {name: _file(name, each) for name, each in _mapping(told, "files").items()}
    kernel = {"version": "", **_mapping(told, "kernel")}
    found = Manifest(
        _text(kernel, "file", NAME),
        _text(kernel, "version", _CMDLINE),
        _text(told, "initrd", NAME),
        _text(told, "cmdline", _CMDLINE),
        files,
        {name: str(version) for name, version in _mapping({"packages": {}, **told}, "packages").items()},
    )
    if lacking := sorted({found.kernel, found.initrd} - files.keys()):
        raise ImageError(f"files: {' and '.join(lacking)} is not among them")
    return found


def _file(name: str, told: Any) -> File:
    if not NAME.fullmatch(name):
        raise ImageError(f"files: {name!r:.80} is no name of a file beside the manifest")
    size = _mapping({name: told}, name).get("size")
    if isinstance(size, bool) or not isinstance(size, int) or size < 0:
        raise ImageError(f"files: size of {name}: found {size!r:.80}, expected a number of bytes")
    return File(size, _text(told, "sha256", _SHA256))


def _mapping(told: Any, key: str) -> dict[str, Any]:
    found = told.get(key) if isinstance(told, dict) else None
    if not isinstance(found, dict):
        raise ImageError(f"{key}: found {found!r:.80}, expected a mapping")
    return found


def _text(told: dict[str, Any], key: str, form: re.Pattern[str]) -> str:
    found = told.get(key)
    if not isinstance(found, str) or not form.fullmatch(found):
        raise ImageError(f"{key}: found {found!r:.80}, expected a text of the form {form.pattern}")
    return found

"""The firmware catalogues and BIOS settings of all device types, as their files have them: what is wrong, by line."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from fleet_runner.adapters.files import firmware_images, yaml_places
from fleet_runner.adapters.files.yaml_places import Unreadable, line_at, line_of, means, twice
from fleet_runner.core.base.errors import ImageError
from fleet_runner.core.base.fields import Path as FieldPath
from fleet_runner.core.base.fields import named
from fleet_runner.core.firmware import bios, boot_settings, catalogue
from fleet_runner.core.firmware.catalogue import Catalogue, CatalogueError, Image, Problem
from fleet_runner.settings import Settings

PROFILE = "fleet_profile"
"""The variable that holds a device type's profile."""

FILES = ("device_type_*.yml", "device_type_*.yaml", "device_type_*/*.yml", "device_type_*/*.yaml")
"""Where Ansible finds the variables of device types, below group_vars."""


@dataclass(frozen=True, slots=True)
class CatalogueProblem:
    """What is wrong in a line of a file. A `grave` one makes the catalogue unusable; others concern its images."""

    file: Path
    line: int
    text: str
    grave: bool = True

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.text}"


Reading = Callable[[Path], None]
"""Is told of an image before it is read."""


def _silent(_: Path) -> None:
    pass


def files(settings: Settings) -> list[Path]:
    """Return the files of device types, beside the inventory in use."""
    folder = settings.inventory_file.parent / "group_vars"
    return sorted(path for pattern in FILES for path in folder.glob(pattern))


def check_files(settings: Settings, *, images: bool, reading: Reading = _silent) -> list[CatalogueProblem]:
    """Return everything that is wrong with the catalogues of all device types; `images`: with their files as well."""
    folder = settings.firmware_dir if images else None
    return [slip for path in files(settings) for slip in check_file(path, folder, reading)]


def check_file(path: Path, folder: Path | None = None, reading: Reading = _silent) -> list[CatalogueProblem]:
    """Return everything that is wrong with one file, and with its images if the folder of images is given.

    `reading` is told of each image before it is read, which takes as long as its file is big.
    """
    try:
        root, found = yaml_places.load(path)
    except Unreadable as error:
        return [CatalogueProblem(path, error.line, str(error))]
    if not isinstance(root, yaml.MappingNode) or not isinstance(found, dict) or PROFILE not in found:
        return []
    profile = next((value for key, value in reversed(root.value) if means(key, PROFILE)), root)
    slips = [CatalogueProblem(path, line, text) for line, text in twice(profile)]
    return sorted([*slips, *_catalogue(path, profile, found[PROFILE], (folder, reading))], key=lambda slip: slip.line)


def _catalogue(
    path: Path, profile: yaml.Node, found: Any, images: tuple[Path | None, Reading]
) -> Iterator[CatalogueProblem]:
    if not isinstance(found, dict):
        yield CatalogueProblem(path, line_of(profile), f"{PROFILE}: found {found!r:.80}, expected a mapping")
        return
    problems = list(_problems(found))
    for problem in problems:
        yield CatalogueProblem(path, line_at(profile, problem.path), str(problem))
    folder, reading = images
    if problems or folder is None or catalogue.SECTION not in found:
        return
    for image, at in _images(catalogue.read(found)):
        try:
            reading(folder / image.file)
            firmware_images.check(folder, image, {}, {})
        except ImageError as error:
            yield CatalogueProblem(path, line_at(profile, at), f"{named(at)}: {error}", grave=False)


def _problems(profile: dict[str, Any]) -> Iterator[Problem]:
    """Give what is wrong with a profile's catalogue, its BIOS and its boot settings, where it has them."""
    known = (bios.read, boot_settings.read)
    for read in (catalogue.read, *known) if catalogue.SECTION in profile else known:
        try:
            read(profile)
        except CatalogueError as error:
            yield from error.problems


def _images(read: Catalogue) -> Iterator[tuple[Image, FieldPath]]:
    """Give each image file once, with where it is named first."""
    seen = set[str]()
    for index, row in enumerate(read.components):
        for image in row.images:
            if image.file not in seen:
                yield image, (catalogue.SECTION, "components", index, "images", image.version, "file")
            seen.add(image.file)

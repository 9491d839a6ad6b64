"""The firmware catalogues and BIOS settings of all device types, as their files have them: what is wrong, by line."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from fleet_runner.adapters import firmware_images
from fleet_runner.core.errors import ImageError
from fleet_runner.core.firmware import bios, catalogue
from fleet_runner.core.firmware.catalogue import Catalogue, CatalogueError, Image, Problem
from fleet_runner.core.firmware.fields import Path as FieldPath
from fleet_runner.core.firmware.fields import named
from fleet_runner.settings import Settings

PROFILE = "fleet_profile"
"""The variable that holds a device type's profile."""

FILES = ("device_type_*.yml", "device_type_*.yaml", "device_type_*/*.yml", "device_type_*/*.yaml")
"""Where Ansible finds the variables of device types, below group_vars."""


@dataclass(frozen=True, slots=True)
class Slip:
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


class _Loader(yaml.SafeLoader):
    """Reads what Ansible reads, without its tags: a secret, or a template, is only a text here."""


_Loader.add_multi_constructor("!", lambda loader, _tag, node: loader.construct_scalar(node))


def files(settings: Settings) -> list[Path]:
    """Return the files of device types, beside the inventory in use."""
    folder = settings.inventory_file.parent / "group_vars"
    return sorted(path for pattern in FILES for path in folder.glob(pattern))


def check_files(settings: Settings, *, images: bool, reading: Reading = _silent) -> list[Slip]:
    """Return everything that is wrong with the catalogues of all device types; `images`: with their files as well."""
    folder = settings.firmware_dir if images else None
    return [slip for path in files(settings) for slip in check_file(path, folder, reading)]


def check_file(path: Path, folder: Path | None = None, reading: Reading = _silent) -> list[Slip]:
    """Return everything that is wrong with one file, and with its images if the folder of images is given.

    `reading` is told of each image before it is read, which takes as long as its file is big.
    """
    try:
        loader = _Loader(path.read_bytes())
        root = loader.get_single_node()
        found = loader.construct_document(root) if root is not None else None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        return [Slip(path, line, f"this is no YAML: {error.problem or error.context}")]
    except (yaml.YAMLError, OSError, ValueError, RecursionError) as error:
        return [Slip(path, 1, f"this cannot be read: {' '.join(str(error).split())}")]
    if not isinstance(root, yaml.MappingNode) or not isinstance(found, dict) or PROFILE not in found:
        return []
    profile = next((value for key, value in reversed(root.value) if _means(key, PROFILE)), root)
    slips = [Slip(path, line, text) for line, text in _twice(profile, (), set())]
    return sorted([*slips, *_catalogue(path, profile, found[PROFILE], (folder, reading))], key=lambda slip: slip.line)


def _catalogue(path: Path, profile: yaml.Node, found: Any, images: tuple[Path | None, Reading]) -> Iterator[Slip]:
    if not isinstance(found, dict):
        yield Slip(path, _line(profile), f"{PROFILE}: found {found!r:.80}, expected a mapping")
        return
    problems = list(_problems(found))
    for problem in problems:
        yield Slip(path, _at(profile, problem.path), str(problem))
    folder, reading = images
    if problems or folder is None or catalogue.SECTION not in found:
        return
    for image, at in _images(catalogue.read(found)):
        try:
            reading(folder / image.file)
            firmware_images.check(folder, image, {}, {})
        except ImageError as error:
            yield Slip(path, _at(profile, at), f"{named(at)}: {error}", grave=False)


def _problems(profile: dict[str, Any]) -> Iterator[Problem]:
    """Give what is wrong with a profile's catalogue and with its BIOS settings, where it has them."""
    for read in (catalogue.read, bios.read) if catalogue.SECTION in profile else (bios.read,):
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


def _twice(node: yaml.Node, path: FieldPath, seen: set[int]) -> Iterator[tuple[int, str]]:
    """Give line and sentence of each key that stands twice: YAML takes the last one, silently."""
    if id(node) in seen:  # an alias: it was looked at where its anchor is
        return
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for index, each in enumerate(node.value):
            yield from _twice(each, (*path, index), seen)
    if isinstance(node, yaml.MappingNode):
        lines: dict[str, int] = {}
        for key, value in node.value:
            name = str(key.value)
            if name in lines and name != "<<":
                yield (
                    _line(key),
                    f"{named((*path, name))}: found again, expected once; it stands in line {lines[name]}",
                )
            lines[name] = _line(key)
            yield from _twice(value, (*path, name), seen)


def _at(node: yaml.Node, path: FieldPath) -> int:
    """Return the line of what a path leads to, or of the nearest that there is above it."""
    line = _line(node)
    for step in path:
        if isinstance(node, yaml.MappingNode):
            keys = [(key, value) for key, value in node.value if _means(key, step)]
            if not keys:
                break
            key, node = keys[-1]
            line = _line(key)
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            line = _line(node)
        else:
            break
    return line


def _means(key: yaml.Node, name: str | int) -> bool:
    """Whether a key is the one that is called so, once YAML has made a number of it, say."""
    loader = _Loader("")
    return isinstance(key, yaml.ScalarNode) and str(loader.construct_object(key)) == str(name)


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1

"""Does a catalogue fit together? What no field can say alone, over rows that are sound each for itself."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from fleet_runner.core.base.fields import Path, Problem

if TYPE_CHECKING:  # the catalogue's types lie beside its reader, which asks this module
    from collections.abc import Iterator, Mapping

    from fleet_runner.core.firmware.catalogue import Component, Image

SHARED = ("order", "activate", "times", "power", "transport", "untargeted", "targets", "oem_parameters")
"""What rows must agree on where one image is sent for all of them in one request."""

KEYS = {"activate": ("activate", "how"), "times": ("activate", "times")}


def problems(rows: Mapping[int, Component], path: Path) -> Iterator[Problem]:
    """Give everything about rows (by their index) that contradicts itself or another row."""
    for index, row in rows.items():
        yield from _alone(row, (*path, index))
        yield from _brought(row, rows, (*path, index))
        yield from _hops(row, (*path, index, "images"))
    for (first, one), (second, other) in combinations(rows.items(), 2):
        yield from _twice(one, other, first, (*path, second))
        yield from _shared(one, other, first, (*path, second))


def _alone(row: Component, path: Path) -> Iterator[Problem]:
    glob = any(letter in row.inventory_id + row.inventory_name for letter in "*?[")
    if not glob and row.count is not None and row.count > 1:
        yield Problem((*path, "count"), str(row.count), f"1, as {row.inventory_id!r} is no glob")
    if row.activate == "none" and row.times > 1:
        yield Problem((*path, "activate", "times"), str(row.times), "nothing, as nothing activates it")
    if row.untargeted and row.exclusive:
        yield Problem(
            (*path, "exclusive"), repr(row.exclusive), "nothing, as untargeted requests are for all at once"
        )
    if row.untargeted and row.targets:
        yield Problem((*path, "targets"), repr(list(row.targets)), "nothing, as untargeted requests name nothing")
    if row.oem_parameters and row.transport != "multipart":
        yield Problem((*path, "transport"), str(row.transport), "multipart, which alone carries oem_parameters")
    if row.exclusive and row.targets:
        yield Problem((*path, "targets"), repr(list(row.targets)), "nothing, as each entry has its own request")


def _brought(row: Component, rows: Mapping[int, Component], path: Path) -> Iterator[Problem]:
    """What another component brings has no images, and that one has some that are for all its entries at once."""
    if row.brought_by and row.images:
        yield Problem((*path, "images"), f"images of {row.name}", f"none, as {row.brought_by} brings it")
    bringing = {other.name for other in rows.values() if other.images and not other.exclusive}
    if row.brought_by and row.brought_by not in bringing:
        yield Problem(
            (*path, "brought_by"), repr(row.brought_by), "the name of a component with images, which is not exclusive"
        )


def _hops(row: Component, path: Path) -> Iterator[Problem]:
    """Each image must lead somewhere: to the target, or to another accepted version."""
    images = {image.version: image for image in row.images}
    if images and row.target not in images:
        yield Problem(path, f"images of {', '.join(images)}", f"one of the target {row.target} among them")
    needed = _on_the_way(images, row)
    for image in row.images:
        at = (*path, image.version)
        if image.version in image.installs_from:
            yield Problem((*at, "from"), repr(image.version), "versions other than the image's own")
        if image.version not in needed:
            yield Problem(
                at, f"an image of {image.version}", "that some image comes `from` it, or that it is accepted"
            )
        for other in row.images:
            if other.version > image.version and other.file == image.file:
                yield Problem(
                    (*path, other.version, "file"), repr(other.file), f"another one than {image.version} has"
                )


def _on_the_way(images: Mapping[str, Image], row: Component) -> set[str]:
    """Return the versions from which named steps lead to an accepted one, those included."""
    found: set[str] = set()
    new = {row.target, *row.accepted}
    while new:
        found |= new
        new = {before for version in new if version in images for before in images[version].installs_from} - found
    return found


def _twice(one: Component, other: Component, first: int, path: Path) -> Iterator[Problem]:
    if one.name == other.name:
        yield Problem((*path, "component"), repr(other.name), f"another name than components[{first}] has")
    if (one.inventory_id, one.inventory_name) == (other.inventory_id, other.inventory_name):
        yield Problem(
            (*path, "inventory_id"), repr(other.inventory_id), f"other entries than components[{first}] has"
        )


def _shared(one: Component, other: Component, first: int, path: Path) -> Iterator[Problem]:
    """Images of two rows that lie in one file: the same checksum, and the same manner of sending it."""
    for mine in one.images:
        for theirs in (image for image in other.images if image.file == mine.file):
            at = (*path, "images", theirs.version)
            if theirs.sha256 != mine.sha256:
                expected = f"{mine.sha256}, which components[{first}] says of the same file"
                yield Problem((*at, "sha256"), theirs.sha256, expected)
            elif theirs.force != mine.force:
                yield Problem((*at, "force"), repr(theirs.force), _agreed(mine.force, mine.file, first))
    if not (one.exclusive or other.exclusive) and _files(one) & _files(other):
        file = min(_files(one) & _files(other))
        for name in SHARED:
            ours, found = getattr(one, name), getattr(other, name)
            if ours != found:
                at = (*path, *KEYS.get(name, (name,)))
                yield Problem(at, _plain(found), _agreed(_plain(ours), file, first))


def _files(row: Component) -> set[str]:
    return {image.file for image in row.images}


def _agreed(value: object, file: str, first: int) -> str:
    return f"{value}, as components[{first}] says, with which it shares {file}"


def _plain(value: object) -> str:
    return str(value) if isinstance(value, str | int | float) else repr(value)

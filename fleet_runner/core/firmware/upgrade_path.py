"""The way from one version to another over the images of a component."""

from collections.abc import Collection

from fleet_runner.core.firmware.catalogue import Component, Image


def way(component: Component, version: str, shunned: Collection[str] = ()) -> tuple[Image, ...] | None:
    """Return the fewest images that lead from a version to the target, one after the other; None where none do.

    Of ways of one length it is that whose images stand first in the catalogue. No image of a `shunned` version is
    on it. An entry on the target needs none.
    """
    ways: dict[str, tuple[Image, ...]] = {version: ()}
    edge = [version]
    while component.target not in ways and edge:
        edge = [
            image.version
            for at in edge
            for image in component.images
            if installs(image, at) and image.version not in shunned and _first(ways, image, at)
        ]
    return ways.get(component.target)


def installs(image: Image, version: str) -> bool:
    """Whether an image may be installed over a version."""
    return not image.installs_from or version in image.installs_from


def _first(ways: dict[str, tuple[Image, ...]], image: Image, at: str) -> bool:
    """Note the way to an image's version by way of `at`, if it is the first that leads there."""
    if image.version in ways:
        return False
    ways[image.version] = (*ways[at], image)
    return True

"""The firmware catalogue of a device type: which versions are right, which images bring them, and how."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from fleet_runner.core.base import fields
from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.base.fields import Path, Problem, Section
from fleet_runner.core.firmware import coherence

__all__ = ["Activate", "Catalogue", "CatalogueError", "Component", "Image", "Power", "Problem", "Transport", "read"]

SECTION = "firmware"
"""The key of a profile under which its catalogue stands."""

DAY = 86_400.0
MOST_WATTS = 1e6
MOST_ENTRIES = 1000
MOST_TIMES = 10
LAST = 10_000


class Activate(StrEnum):
    """What makes a written image run."""

    NONE = "none"  # nothing: the BMC puts it to use by itself, restarting where it must
    BMC_RESET = "bmc_reset"
    HOST_RESET = "host_reset"
    AC_DRAIN = "ac_drain"  # all power is removed, standby included


class Transport(StrEnum):
    """How an image goes to the BMC."""

    AUTO = "auto"  # the first that the BMC offers of multipart, push, simple
    MULTIPART = "multipart"  # MultipartHttpPushUri: the image and its parameters in one request
    PUSH = "push"  # HttpPushUri: the bare image
    SIMPLE = "simple"  # SimpleUpdate: the BMC fetches it from `firmware_url`


class Power(StrEnum):
    """The power state that the host must be in while an image is written."""

    ANY = "any"
    ON = "on"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class Image:
    """A file that brings one version. `installs_from` are the versions it may be installed over; none means any.

    `file` is relative to the setting `firmware_images`. `force` asks the BMC for what it calls a downgrade.
    """

    version: str
    file: str
    sha256: str
    installs_from: tuple[str, ...] = ()
    force: bool = False


@dataclass(frozen=True, slots=True)
class Component:
    """One row of a catalogue: the inventory entries it speaks of, their versions, and how they are brought there.

    `inventory_id` is a glob over the last segment of an entry's URI, `inventory_name` one over its Name, for BMCs
    that number their entries; `count` is how many entries they must match (None: one where neither is a glob, else at
    least one). `accepted` holds every legal version, `target` first. A component without images is only compared. An
    entry of an `exclusive` group has each request to itself; `times` is how often the activation is done; `seconds`
    the longest that one update may take, its activation aside. `targets` are the resources that the request names:
    its own entries where empty, nothing at all where `untargeted`. `oem_parameters` go with a multipart request as a
    part of their own, which AMI's BMCs want: what kind of image it is. What is `brought_by` another component comes
    with the image of that one's target, and is never sent anything itself.
    """

    name: str
    inventory_id: str
    target: str
    accepted: tuple[str, ...]
    images: tuple[Image, ...] = ()
    count: int | None = None
    order: int = 50
    activate: Activate = Activate.NONE
    times: int = 1
    exclusive: str = ""
    power: Power = Power.ANY
    transport: Transport = Transport.AUTO
    untargeted: bool = False
    seconds: float = 1800.0
    rollback: bool = True
    inventory_name: str = ""
    targets: tuple[str, ...] = ()
    oem_parameters: tuple[tuple[str, fields.Plain], ...] = ()
    brought_by: str = ""


@dataclass(frozen=True, slots=True)
class Catalogue:
    """What is right for one device type. `boards` are globs of the models its images are for; none means any.

    `watts` is what a node may draw while it is updated, for its rack's budget (0: it counts nothing).
    """

    components: tuple[Component, ...] = ()
    boards: tuple[str, ...] = ()
    watts: float = 0.0


class CatalogueError(EvidenceError):
    """A catalogue is unusable, which is no hardware's fault. `problems` are all of its wrong fields."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        self.problems = problems
        first, *others = problems
        more = f"; and {len(others)} more" if others else ""
        super().__init__(f"{first}{more}; correct the device type's file in inventory/group_vars")


def read(profile: Mapping[str, Any]) -> Catalogue:
    """Return the catalogue of a device type's profile, or raise a CatalogueError with everything that is wrong."""
    problems: list[Problem] = []
    section = Section(profile.get(SECTION), (SECTION,), problems)
    boards = section.several("boards", fields.text)
    watts = section.take("watts", fields.number(0, MOST_WATTS), 0.0)
    nothing: list[object] = []
    rows = section.take("components", fields.rows, nothing, needed=True)
    section.strangers()
    found = {index: _component(row, (*section.path, "components", index), problems) for index, row in enumerate(rows)}
    sound = {index: component for index, component in found.items() if component is not None}
    problems += coherence.problems(sound, (*section.path, "components"))
    if problems:
        raise CatalogueError(tuple(problems))
    return Catalogue(tuple(sound.values()), boards, watts)


def _component(found: object, path: Path, problems: list[Problem]) -> Component | None:
    """Return one row, or None where anything of it is wrong, which has become a problem."""
    before = len(problems)
    row = Section(found, path, problems)
    target = row.take("target", fields.version, "", needed=True)
    accepted = row.several("accepted", fields.version)
    how, times = _activation(row)
    component = Component(
        row.take("component", fields.text, "", needed=True),
        row.take("inventory_id", fields.segment, "", needed=True),
        target,
        (target, *(version for version in accepted if version != target)),
        images=_images(row),
        count=row.take("count", fields.whole(1, MOST_ENTRIES), None),
        order=row.take("order", fields.whole(0, LAST), 50),
        activate=how,
        times=times,
        exclusive=row.take("exclusive", fields.text, ""),
        power=row.take("power", fields.one_of(Power), Power.ANY),
        transport=row.take("transport", fields.one_of(Transport), Transport.AUTO),
        untargeted=row.take("untargeted", fields.flag, otherwise=False),
        seconds=row.take("seconds", fields.number(1, DAY), 1800.0),
        rollback=row.take("rollback", fields.flag, otherwise=True),
        inventory_name=row.take("inventory_name", fields.text, ""),
        targets=row.several("targets", fields.resource),
        oem_parameters=_oem_parameters(row),
        brought_by=row.take("brought_by", fields.text, ""),
    )
    row.strangers()
    return component if len(problems) == before else None


def _activation(row: Section) -> tuple[Activate, int]:
    section = row.below("activate")
    if section is None:
        return Activate.NONE, 1
    how = section.take("how", fields.one_of(Activate), Activate.NONE, needed=True)
    times = section.take("times", fields.whole(1, MOST_TIMES), 1)
    section.strangers()
    return how, times


def _oem_parameters(row: Section) -> tuple[tuple[str, fields.Plain], ...]:
    section = row.below("oem_parameters")
    if section is None:
        return ()
    if section.sound and not section.rows:
        row.wrong("oem_parameters", "nothing", "at least one")
    found: list[tuple[str, fields.Plain]] = []
    for key in section.rows:
        try:
            found.append((fields.text(key), fields.plain(section.rows[key])))
        except fields.Unfit as unfit:
            section.wrong(str(key), fields.shown(section.rows[key]), str(unfit))
    return tuple(found)


def _images(row: Section) -> tuple[Image, ...]:
    section = row.below("images")
    return () if section is None else tuple(_image(section, key) for key in section.rows)


def _image(images: Section, key: object) -> Image:
    try:
        version = fields.version(key)
    except fields.Unfit as unfit:
        version = str(key)
        images.wrong(version, f"the key {fields.shown(key)}", str(unfit))
    row = Section(images.rows[key], (*images.path, version), images.problems)
    image = Image(
        version,
        row.take("file", fields.file_name, "", needed=True),
        row.take("sha256", fields.sha256, "", needed=True),
        row.several("from", fields.version),
        row.take("force", fields.flag, otherwise=False),
    )
    row.strangers()
    return image

"""The firmware catalogue of a device type: which versions are right, which images bring them, and how."""

from dataclasses import dataclass
from enum import StrEnum


class Activate(StrEnum):
    """What makes a written image run."""

    NONE = "none"  # nothing: the BMC puts it to use by itself, restarting where it must
    BMC_RESET = "bmc_reset"
    HOST_RESET = "host_reset"
    AC_DRAIN = "ac_drain"  # all power is taken away, standby included


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

    `inventory_id` is a glob over the last segment of an entry's URI; `count` is how many entries it must match (None:
    one where it is no glob, else at least one). `accepted` holds every legal version, `target` first. A component
    without images is only compared. Entries of one `exclusive` group never share a request; `times` is how often the
    activation is done; `seconds` the longest that one update may take, its activation aside. `targets` are globs of
    what the request names: its own entries where empty, nothing at all where `untargeted`.
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


@dataclass(frozen=True, slots=True)
class Catalogue:
    """What is right for one device type. `boards` are globs of the models its images are for; none means any.

    `watts` is what a node may draw while it is updated, for its rack's budget (0: it counts nothing).
    """

    components: tuple[Component, ...] = ()
    boards: tuple[str, ...] = ()
    watts: float = 0.0

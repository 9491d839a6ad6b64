"""One flash of one node, as it is written down before anything is sent and followed until its end is certain."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from fleet_runner.core.firmware.catalogue import Activate
from fleet_runner.core.firmware.unobserved import Gap


class Phase(StrEnum):
    """How far a flash is known to have come."""

    INTENDED = "intended"  # written down; whether the image was sent only the BMC can tell
    SENT = "sent"  # the BMC took the image; `task` is where it tells of its progress, if anywhere
    UPDATED = "updated"  # the BMC has written it
    ACTIVATING = "activating"  # a reset that makes it run was written down, and may have been sent


class End(StrEnum):
    """How a flash ended; once it has, nothing of it is under way."""

    VERIFIED = "verified"  # the versions are the target's, read several times
    FAILED = "failed"  # it is certain that they are not, and why
    NOT_SENT = "not_sent"  # it is certain that the BMC never took the image
    SETTLED = "settled"  # a person looked, and says that nothing of it is under way


@dataclass(frozen=True, slots=True)
class Flash:
    """A row of the store; times are epoch seconds.

    `before` are the inventory ids that it changes with their versions from before, `targets` the same ids with those
    they shall have. `tasks_before` are the URIs of the BMC's tasks when it was intended, `bmc_reset_before` is when
    the BMC had last started (None: it does not tell). `intended_at` is written anew before the image is sent again,
    `sent_at` once the BMC has taken it. `activations` counts the resets that were written down, `activated_at` is the
    newest one's moment, `activated` counts those that the BMC answered well. One that was reset and has no
    `updated_at` was staged: its BMC writes it while the host starts. `rolls_back` is the flash it undoes.
    """

    id: int
    node: str
    component: str
    before: Mapping[str, str]
    targets: Mapping[str, str]
    image: str
    sha256: str
    activate: Activate
    times: int
    seconds: float
    attempt: int
    intended_at: float
    by: str = "runner"
    run: int | None = None
    rolls_back: int | None = None
    phase: Phase = Phase.INTENDED
    tasks_before: tuple[str, ...] = ()
    task: str = ""
    sent_at: float | None = None
    updated_at: float | None = None
    activations: int = 0
    activated_at: float | None = None
    activated: int = 0
    bmc_reset_before: float | None = None
    ended_at: float | None = None
    end: End | None = None
    detail: str = ""


class TaskEnd(StrEnum):
    """What became of a task of the BMC."""

    RUNNING = "running"
    STAGED = "staged"  # nothing is written yet: the host's next start does it (Dell's job that is Scheduled)
    DONE = "done"  # completed well; which is not yet success
    FAILED = "failed"  # exception, killed, cancelled, interrupted, or completed with a critical status


@dataclass(frozen=True, slots=True)
class Task:
    """A Redfish task, or what a task monitor answered. `percent` is None where the BMC gives none.

    `asked` is where the request went that began it, `targets` are the inventory ids that this named, and `image` is
    the file that it had fetched: "" and () where the BMC does not tell.
    """

    uri: str
    state: TaskEnd
    name: str = ""
    percent: int | None = None
    messages: tuple[str, ...] = ()
    started_at: float | None = None
    ended_at: float | None = None
    asked: str = ""
    targets: tuple[str, ...] = ()
    image: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """One look at a BMC. What could not be read is None, and `trouble` says why in one sentence.

    `versions` holds every inventory entry's; `stable` says in how many looks in a row, this one included, they were
    the same and complete. `tasks` are all that the BMC lists; `task` is the flash's own, with `task_gone` where the
    BMC answers that there is none. `bmc_reset_at` is when the BMC last started, by our clock. `busy` is what the BMC
    says beside its tasks: that an update goes on; `failure` why it says that its last one failed. `gaps` are the
    times since the flash was written down in which nobody looked, as far as the clock tells. `partial` is a look that
    broke off: what it does not show may be there all the same, which is not so of a BMC that has no list of tasks.
    """

    at: float
    versions: Mapping[str, str] | None = None
    stable: int = 0
    tasks: Mapping[str, Task] | None = None
    task: Task | None = None
    task_gone: bool = False
    power: str | None = None
    bmc_reset_at: float | None = None
    trouble: str = ""
    busy: bool = False
    failure: str = ""
    gaps: tuple[Gap, ...] = ()
    partial: bool = False


@dataclass(frozen=True, slots=True)
class FlashTiming:
    """How patient a flash is, in seconds; `stable` is a count of looks.

    `poll` between two looks; `settle`, how long a version must stay wrong before that is believed; `send`, the
    longest that one image may take to be sent; `outage`, how long a BMC may be silent after a reset.
    """

    poll: float = 10.0
    settle: float = 900.0
    send: float = 900.0
    outage: float = 1200.0
    boot: float = 900.0
    stable: int = 3


@dataclass(frozen=True, slots=True)
class Wait:
    """Look again after `seconds`; `why` is what a person reads meanwhile."""

    why: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Send:
    """Send the image: it is certain that the BMC never took it."""


@dataclass(frozen=True, slots=True)
class Adopt:
    """A task of the BMC is this flash's."""

    task: str


@dataclass(frozen=True, slots=True)
class Mark:
    """The flash has come to a phase."""

    phase: Phase
    why: str = ""


@dataclass(frozen=True, slots=True)
class Reset:
    """Write down and do the activation's reset number `number` (1 is the first).

    `task` is a staged one that is the flash's from now on, for this reset begins it; "" where its own is known.
    """

    how: Activate
    number: int
    task: str = ""


@dataclass(frozen=True, slots=True)
class Conclude:
    """The flash has ended; `detail` is one sentence."""

    end: End
    detail: str


Act = Wait | Send | Adopt | Mark | Reset | Conclude

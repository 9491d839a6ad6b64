"""Carries one batch to its end, whatever becomes of the runner: `python -m fleet_runner.adapters.plays.supervisor D`.

It holds the batch's lock for its life, runs the stage's playbook once, ends it at its deadline or when it gets
SIGTERM, and leaves the exit status in `rc`. A second supervisor for the same batch finds the lock or `started`
and runs nothing.
"""

import contextlib
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO, cast

from fleet_runner.adapters.plays import batch_folder, lease, processes, watchdog

if TYPE_CHECKING:
    from fleet_runner.adapters.plays.lease_holder import LeaseHolder

DEADLINE_RC = 124  # as timeout(1) has it
BROKEN_RC = 125  # the supervisor itself failed, or Ansible was killed
FENCED_RC = 126  # its lease was over, or its runs were
STOPPED_RC = 128 + signal.SIGTERM

GRACE = 5.0  # seconds between asking a play to end and killing it
PAUSE = 1.0
DISK_PAUSE, DISK_TRIES = 5.0, 720
DELIVERY = 900.0  # seconds for which a store that is away is waited for; the runner tells it later what is left


class End(NamedTuple):
    """How the batch ended; the reason is empty when it is Ansible's own exit status."""

    rc: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Log:
    """The batch's log. What a full disk does not take is dropped: it must not end a play."""

    stream: TextIO

    def write(self, text: str) -> int:
        """Write the text if there is room."""
        with contextlib.suppress(OSError):
            self.stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Bring it to the file if there is room."""
        with contextlib.suppress(OSError):
            self.stream.flush()


@dataclass(slots=True)
class PlayLimits:
    """Ends a play at its deadline (monotonic), on request, or without a lease: asks first, kills after a while."""

    batch: str
    deadline: float
    stopped: bool = False
    end: End | None = None
    asked: float = 0.0
    lock: int = -1
    courier: "LeaseHolder | None" = None
    own: list[int] = field(default_factory=lambda: [os.getpid()])  # this process, and its warden's

    def over(self) -> bool:
        """Return True once the play must be killed; called about every second while it runs."""
        now = time.monotonic()
        if self.end is None:
            self.end = self._due(now)
            if self.end is not None:
                self.asked = now
                _ask(self.batch)
            return False
        return self.left() <= 0

    def left(self) -> float:
        """Return the seconds that what was asked to end may take."""
        asked = max(0.0, self.asked + GRACE - time.monotonic()) if self.asked else GRACE
        return asked if self.courier is None else min(asked, self.courier.left(lease.KILLED))

    def _due(self, now: float) -> End | None:
        if self.stopped:
            return End(STOPPED_RC, "It was stopped on request.")
        if now > self.deadline:
            return End(DEADLINE_RC, "It was ended at its stage's deadline.")
        if self.courier is not None and (why := self.courier.over()):
            return End(FENCED_RC, why)
        return None


def begin(arguments: Sequence[str]) -> int:
    """Have this process do nothing else than to carry a batch."""
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))  # a socket of the runner must not live as long as this play
    sys.stdout = sys.stderr = cast("TextIO", Log(sys.stdout))
    return main(arguments)


def main(arguments: Sequence[str]) -> int:
    """Carry the batch in the folder `arguments[0]`, unless somebody carries or carried it."""
    folder = Path(arguments[0]).resolve()
    watch = PlayLimits(folder.name, float("inf"))
    signal.signal(signal.SIGTERM, lambda *_: setattr(watch, "stopped", True))
    lock = batch_folder.take(folder)  # held until this process ends
    if lock is None:
        _say("another supervisor carries this batch; nothing to do")
        return 0
    if not batch_folder.create(folder / batch_folder.STARTED, json.dumps(_self())):
        _say("this batch was started before; nothing to do")
        return 0
    watch.lock = lock
    end = _carry(folder, watch)
    for each in watch.own[1:]:
        watchdog.dismiss(each)
    _say(f"rc {end.rc} {end.reason}")
    _leave(folder / batch_folder.RC, f"{end.rc} {end.reason}".strip() + "\n")
    if watch.courier is not None:
        _say(watch.courier.deliver(end.rc, end.reason, DELIVERY))
    return 0


def _carry(folder: Path, watch: PlayLimits) -> End:
    """Run the play and say how it ended; an error of our own is an end with a reason, never a silent death."""
    try:
        spec = json.loads((folder / batch_folder.SPEC).read_text())
        if "lease" in spec and not _leased(folder, spec, watch):
            return End(FENCED_RC, "It was not begun: its lease was over, or its runs were.")
        from fleet_runner.adapters.plays import play  # noqa: PLC0415 - slow, and `started` must be early

        watch.deadline = time.monotonic() + float(spec["deadline"])
        watch.over()  # it may have been stopped before anything ran
        rc = None if watch.end else play.run(folder, spec, watch.over)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the border of this process
        traceback.print_exc()
        watch.end = watch.end or End(BROKEN_RC, f"The supervisor failed: {type(error).__name__}: {error}.")
    else:
        if rc is None:
            _wait_out(watch)
        watch.end = watch.end or (End(BROKEN_RC, "ansible-playbook was killed.") if rc is None else None)
        if watch.end is None:
            return End(rc or 0)
    _end_all(watch)
    return watch.end


def _leased(folder: Path, spec: dict[str, Any], watch: PlayLimits) -> bool:
    """Begin a batch that has a lease, which it says; keep in `spec` the nodes whose runs are open."""
    watch.own.append(watchdog.post(folder, watch.lock))
    from fleet_runner import settings  # noqa: PLC0415 - only a batch with a lease needs them, and the warden does not
    from fleet_runner.adapters.plays.lease_holder import LeaseHolder  # noqa: PLC0415 - likewise

    watch.courier = LeaseHolder(folder, spec, settings.load().store_url)
    spec["runs"] = watch.courier.start(spec["runs"])
    return bool(spec["runs"])


def _end_all(watch: PlayLimits) -> None:
    """See to it that nothing of the play lives on: `rc` promises that."""
    for one in processes.end(watch.batch, spare=watch.own, grace=watch.left()):
        _say(f"process {one.pid} could not be ended: {one.command}")


def _ask(batch: str) -> None:
    """Ask ansible-playbook to end; it passes the request on to its workers, which are in sessions of their own."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    for child in children:
        found = processes.find(int(child), batch)
        if found is not None:
            processes.send(found, batch, signal.SIGTERM)


def _wait_out(watch: PlayLimits) -> None:
    """Let tasks that outlived a killed ansible-playbook finish, until the deadline: one may be flashing."""
    while any(one.pid not in watch.own for one in processes.tagged(watch.batch)) and not watch.over():
        time.sleep(PAUSE)


def _leave(path: Path, text: str) -> None:
    """Write `rc`; on a full disk keep the lock and try again, since a batch without `rc` counts as lost."""
    for _ in range(DISK_TRIES):
        try:
            return batch_folder.replace(path, text)
        except OSError as error:
            _say(f"{path} cannot be written: {error.strerror}; free the disk, the supervisor tries again")
        time.sleep(DISK_PAUSE)
    return None


def _self() -> dict[str, Any]:
    return {"pid": os.getpid(), "ticks": processes.started(os.getpid()), "at": time.time()}


def _say(sentence: str) -> None:
    print(f"supervisor {os.getpid()}: {sentence}", flush=True)  # noqa: T201 - its output is the batch's log


if __name__ == "__main__":
    sys.exit(begin(sys.argv[1:]))

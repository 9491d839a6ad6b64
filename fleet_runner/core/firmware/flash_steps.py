"""What comes next for an open flash: one pure decision over what is written down and what its BMC shows now.

An image is never sent twice on a guess, and power is never touched while one may be being written. Where the BMC
alone can tell, it is asked again; where it cannot tell, nothing is done that could ruin the node.

Each row: what is written down, what is seen, what follows. The first row that fits counts.

    INTENDED: whether the image was sent is not known. Its driver sends it without asking here.
      the BMC is silent                               wait, for as long as it takes
      a task that was not there before shows this
      flash's request (see `task_owner`)              adopt it
      another one that was not there before runs      wait until it is over, whosever it is
      less than `send` since it was written down      wait: the request may still be on its way
      the BMC says that it is updating                wait until it is not
      an update is staged that nothing speaks against,
      the only new one, and a start is to write this  reset, as `activation` has it
      likewise, but its name is another part's, or
      there are several                               wait: a person looks whose it is
      the versions are right                          UPDATED: it was taken, and the BMC is done
      an update that may be this one ended well       UPDATED: nobody knows; the activation runs what may pend
      certainly never taken (see below)               send
      wrong for `settle` and the update's `seconds`   UPDATED: nobody knows; the activation runs what may pend

    SENT: the BMC took it.
      its task runs                                   wait, for as long as it takes
      its task is staged: the host's start writes it  reset, as `activation` has it
      its task ended, and is somebody else's, to whom
      a BMC that restarted gave its address           as if it were gone
      its task ended well                             UPDATED; which is not yet success
      its task failed, and another runs, or the BMC
      says that it is updating                        wait until it is over
      its task failed, versions as before             FAILED, with the task's own messages
      its task failed, versions are others, or the
      BMC has restarted since                         UPDATED: some of it may be written
      no address, or the task is gone, and one is new adopt it if it shows this request, or began with the answer;
                                                      else wait until it is over
      likewise, and the BMC says that it is updating  wait until it is not
      likewise, and an update is staged               as above
      likewise, and the versions are right            UPDATED
      likewise, and wrong for `settle` since the BMC
      lost it in a restart, else also for `seconds`   UPDATED: what was written may be pending

    UPDATED, ACTIVATING: nothing of it is being written any more, as far as anything tells; or the host's start
    writes what was staged. See `activation`.

Certainly never taken: the BMC's tasks can be read; it lists an update from before, and no task is new, so it keeps
tasks of updates and has none of this image; none of those from before is missing, for a BMC that forgets tasks may
have forgotten this one's; it last started when it had then; and all versions are the old ones, in several looks.
A BMC without tasks, or one that does not tell when it started, is never certain; nor is anything once a clock was
set: that moves the start.
A clock that was set back makes every wait here longer: nothing is sent or condemned sooner for it. One that was set
forward is found out by the BMC's start, which moves with it, or by the gap that it leaves between two visits of the
runner, and ends no wait either.
"""

from fleet_runner.core.firmware import activation, task_owner
from fleet_runner.core.firmware.flash import (
    Act,
    Adopt,
    Conclude,
    End,
    Flash,
    FlashTiming,
    Mark,
    Phase,
    Seen,
    Send,
    Task,
    TaskEnd,
    Wait,
)
from fleet_runner.core.firmware.flash_events import (
    at_work,
    beside,
    clock,
    cut,
    elapsed,
    late,
    legible,
    mine,
    named,
    new,
    right,
    silence,
    silent,
    started,
    unchanged,
    unread,
    where,
)


def decide(flash: Flash, seen: Seen, pace: FlashTiming) -> Act:
    """Return what to do next about an open flash."""
    if flash.phase is Phase.INTENDED:
        return _intended(flash, seen, pace)
    if flash.phase is Phase.SENT:
        return _sent(flash, seen, pace)
    return activation.decide(flash, seen, pace)


def _intended(flash: Flash, seen: Seen, pace: FlashTiming) -> Act:
    if silent(seen):
        return silence(seen, pace, flash.intended_at)
    if own := task_owner.own(flash, new(flash, seen)):
        return Adopt(own.uri)
    if others := beside(flash, seen, pace):
        return others
    left = pace.send - elapsed(flash, seen, flash.intended_at)
    if left > 0:
        return Wait(
            f"Whether the BMC took the image is not known; it may be on its way for {left:.0f} s more.", pace.poll
        )
    if seen.busy or not legible(seen, pace):
        return _updating(pace) if seen.busy else unread(seen, pace)
    return _unanswered(flash, seen, pace)


def _unanswered(flash: Flash, seen: Seen, pace: FlashTiming) -> Act:
    """Go by what the BMC shows now that it is at rest, and nothing of the image can be on its way any more."""
    if (unproven := activation.start_unproven(flash, seen, pace)) is not None:
        return unproven
    if right(flash, seen, pace):
        return Mark(Phase.UPDATED, "The versions are right, so the BMC took the image and is done with it.")
    if any(task.state is TaskEnd.DONE and _may_be(flash, task) for task in new(flash, seen)):
        return Mark(Phase.UPDATED, "Whether the BMC took the image cannot be known; an update of it has ended well.")
    if _untaken(flash, seen, pace):
        return Send()
    patience, since = max(pace.settle, flash.seconds), max(flash.intended_at + pace.send, started(seen))
    # From its own begin as well: what nobody watched before `since` is no part of `send` either.
    whole = pace.send + patience - elapsed(flash, seen, flash.intended_at)
    left = max(whole, patience - elapsed(flash, seen, since))
    if left > 0:
        return Wait(
            f"Whether the BMC took the image cannot be known; {where(flash, seen)}: {left:.0f} s more.", pace.poll
        )
    return Mark(Phase.UPDATED, "Whether the BMC took the image cannot be known; it should be written by now.")


def _may_be(flash: Flash, task: Task) -> bool:
    """Whether a task is an update that may be the flash's, though nothing proves it."""
    return task_owner.is_update(task) and not task_owner.anothers(flash, task)


def _updating(pace: FlashTiming) -> Wait:
    return Wait("The BMC says that an update is running.", pace.poll)


def _untaken(flash: Flash, seen: Seen, pace: FlashTiming) -> bool:
    """Say if it is certain that the BMC never took the image: none of its tasks is new."""
    changed = new(flash, seen) or (seen.versions is not None and not unchanged(flash, seen))
    if seen.tasks is None or changed or set(flash.tasks_before) - seen.tasks.keys():
        return False
    return any(task_owner.is_update(task) for task in seen.tasks.values()) and _same_start(flash, seen, pace)


def _same_start(flash: Flash, seen: Seen, pace: FlashTiming) -> bool:
    """Say if the BMC last started when it had as the flash was written down, and no clock was set since."""
    before, now = flash.bmc_reset_before, seen.bmc_reset_at
    return before is not None and now is not None and abs(now - before) <= clock(pace)


def _sent(flash: Flash, seen: Seen, pace: FlashTiming) -> Act:
    task = mine(flash, seen)
    if task and not _reused(flash, seen, pace, task):
        return _told(flash, seen, pace, task)
    if silent(seen):
        return silence(seen, pace, _sent_at(flash))
    if own := task_owner.own(flash, new(flash, seen)):
        return Adopt(own.uri)
    if others := beside(flash, seen, pace):
        return others
    if seen.busy:
        return _updating(pace)
    return _untold(flash, seen, pace) if legible(seen, pace) else unread(seen, pace)


def _reused(flash: Flash, seen: Seen, pace: FlashTiming, task: Task) -> bool:
    """Say if a BMC that may have restarted has given the flash's address to somebody else's task, which has ended."""
    if task.state in {TaskEnd.RUNNING, TaskEnd.STAGED} or _same_start(flash, seen, pace):
        return False
    return bool(task_owner.anothers(flash, task))


def _untold(flash: Flash, seen: Seen, pace: FlashTiming) -> Act:
    """Go by the versions alone: no task tells of the image, not any more or never; or one that may be its waits."""
    if (unproven := activation.start_unproven(flash, seen, pace)) is not None:
        return unproven
    if right(flash, seen, pace):
        return Mark(Phase.UPDATED, "The versions are right.")
    lost = seen.task_gone and _restarted(flash, seen, pace)
    patience = pace.settle if lost else max(pace.settle, flash.seconds)
    left = patience - elapsed(flash, seen, max(_sent_at(flash), started(seen)))
    if left > 0:
        return Wait(f"No task reports the image; {where(flash, seen)}: {left:.0f} s more.", pace.poll)
    return Mark(Phase.UPDATED, "No task reports the image, and it should be written by now.")


def _restarted(flash: Flash, seen: Seen, pace: FlashTiming) -> bool:
    """Say if the BMC is seen to have started since it took the image."""
    return started(seen) > _sent_at(flash) + clock(pace)


def _sent_at(flash: Flash) -> float:
    return flash.intended_at if flash.sent_at is None else flash.sent_at


def _told(flash: Flash, seen: Seen, pace: FlashTiming, task: Task) -> Act:
    """Go by what the flash's own task says."""
    if task.state is TaskEnd.RUNNING:
        return Wait(f"The BMC is at it: {named(task)}.{late(flash, seen, _sent_at(flash))}", pace.poll)
    if task.state is TaskEnd.STAGED:
        return activation.start(flash, seen, pace, task)
    if task.state is TaskEnd.DONE:
        return Mark(Phase.UPDATED, "The BMC's task ended well.")
    return _failed(flash, seen, pace, task)


def _failed(flash: Flash, seen: Seen, pace: FlashTiming, task: Task) -> Act:
    if busy := at_work(flash, seen):
        return Wait(f"The BMC's task failed, and it is busy with {busy}.", pace.poll)
    if not legible(seen, pace):
        return unread(seen, pace)
    said = cut("; ".join(task.messages)) or "it does not say why"
    if unchanged(flash, seen) and not _restarted(flash, seen, pace):
        return Conclude(End.FAILED, f"The BMC's task failed: {said.rstrip('.')}; {where(flash, seen)}.")
    return Mark(Phase.UPDATED, f"The BMC's task failed ({said.rstrip('.')}), but a part of it may be written.")

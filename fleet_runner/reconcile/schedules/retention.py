"""Retention carried out: what `core.schedules.retention` says may go is taken from the store and from `state_dir`.

The store is held for one short transaction at a time, with a pause as long as it took after each, so that plays and
ticks write in between; a call ends after its seconds, and the next one goes on where it ended.
"""

import time
from dataclasses import dataclass, replace

from fleet_runner.adapters.plays import artifacts
from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.maintenance.pruning import AGED, TRENDS
from fleet_runner.core.lifecycle.states import SERVING
from fleet_runner.core.schedules import retention
from fleet_runner.core.schedules.retention import DAY, Pruned, RetentionLimits
from fleet_runner.settings import Settings

SECONDS = 60.0
"""How long one call works at most, pauses included."""

PIECES = 500
"""Pieces of evidence, or rows, of one transaction."""

PAUSE = 0.5
"""The longest pause between two transactions, in seconds."""

BUNDLES = "bundles"


@dataclass(slots=True)
class RetentionWork:
    """One call's work: on what, by which rules, at which moment, until when, or only counted (`dry`)."""

    settings: Settings
    store: Store
    keep: RetentionLimits
    now: float
    until: float
    dry: bool
    last: float

    def goes_on(self) -> bool:
        """Pause; say whether there is time left."""
        if not self.dry:
            time.sleep(min(PAUSE, time.monotonic() - self.last))
        self.last = time.monotonic()
        return self.last < self.until


def prune(settings: Settings, store: Store, now: float, *, seconds: float = SECONDS) -> str:
    """Take away what is too old or too much; return what went, as a sentence."""
    return pruned(settings, store, now, seconds=seconds).sentence()


def pruned(settings: Settings, store: Store, now: float, *, seconds: float = SECONDS, dry: bool = False) -> Pruned:
    """Do the same, or with `dry` only count; return how much went, or would go."""
    clock = time.monotonic()
    work = RetentionWork(settings, store, keeping(settings), now, clock + seconds, dry, clock)
    done = Pruned()
    for part in (_aged, _evidence, _sweeps, _folders):
        done += part(work)
        if done.more and not dry:
            break
    return done


def tidied(settings: Settings, store: Store, now: float) -> Pruned:
    """Remove the folders of this machine that are too old, to the last; return how much went."""
    clock = time.monotonic()
    return _folders(RetentionWork(settings, store, keeping(settings), now, float("inf"), dry=False, last=clock))


def keeping(settings: Settings) -> RetentionLimits:
    """Return what the settings say of it."""
    return RetentionLimits(
        settings.keep_evidence_days,
        settings.keep_evidence_bytes,
        settings.keep_sweeps_days,
        settings.keep_artifacts_days,
        settings.keep_signals_days,
        settings.keep_audit_days,
        settings.keep_trend_days,
    )


def _aged(work: RetentionWork) -> Pruned:
    done, keep = Pruned(), work.keep
    kept = dict.fromkeys(TRENDS, keep.trend_days) | {"asked": keep.audit_days, "photos": keep.evidence_days}
    for what in AGED:
        before = retention.since(work.now, kept.get(what, keep.signals_days))
        if work.dry:
            done = _plus(done, what, work.store.count_aged(what, before))
            continue
        while gone := work.store.drop_aged(what, before, PIECES):
            done = _plus(done, what, gone)
            if not work.goes_on():
                return done + Pruned(more=True)
    return done


def _plus(done: Pruned, what: str, count: int) -> Pruned:
    return replace(done, **{what: getattr(done, what) + count})


def _evidence(work: RetentionWork) -> Pruned:
    store, keep = work.store, work.keep
    over = store.bytes_of_evidence() - keep.evidence_bytes if keep.evidence_bytes else 0
    cutoff = retention.since(work.now, keep.evidence_days)
    rests = store.resting_evidence()
    done, after = Pruned(), (0.0, "")
    while page := store.oldest_evidence(after, PIECES):
        gone = retention.bodies(page, rests, keep, over, work.now)
        size = sum(each.size for each in gone)
        count, size = (len(gone), size) if work.dry or not gone else store.drop_evidence(gone)
        done, over = done + Pruned(evidence=count, evidence_bytes=size), over - size
        after = (page[-1].at, page[-1].hash)
        if page[-1].at >= cutoff and over <= 0:
            break
        if count and not work.goes_on():  # pages of what must stay are read on, or no call would come past them
            return done + Pruned(more=True)
    return done


def _sweeps(work: RetentionWork) -> Pruned:
    done, until = Pruned(), retention.since(work.now, work.keep.sweeps_days)
    while (found := work.store.unthinned(until)) is not None:
        day, names = found
        for name in names:
            results, runs = work.store.thin(name, day, dry=work.dry)
            done += Pruned(results=results, runs=runs)
            if results and not work.goes_on():
                return done + Pruned(more=True)
        if work.dry:  # the oldest day stands for those after it
            return done + Pruned(more=day + 2 * DAY <= until)
        work.store.thinned_until(day + DAY)
    return done


def _folders(work: RetentionWork) -> Pruned:
    """Remove folders of batches that are over, and bundles but for the newest of each node that may need it."""
    above, bundles = work.settings.batches_dir, work.settings.state_dir / BUNDLES
    running = frozenset(run.batch for run in work.store.open_runs())
    gathered = artifacts.found(bundles, "*/*")
    newest = {each.name.partition("/")[0]: each.name for each in gathered}  # their names sort by time
    needed = _needing(work.store)
    stays = frozenset(name for node, name in newest.items() if node in needed)
    done, days = Pruned(), work.keep.artifacts_days
    gone = [(above, each) for each in retention.aged(artifacts.found(above, "*"), running, work.now, days)]
    gone += [(bundles, each) for each in retention.aged(gathered, stays, work.now, days)]
    for folder, each in gone:
        if work.dry or artifacts.remove(folder, each.name):
            done += Pruned(folders=1, folder_bytes=each.size)
        if not work.goes_on():
            return done + Pruned(more=True)
    return done


def _needing(store: Store) -> frozenset[str]:
    """Return the nodes whose newest bundle somebody may still need: they do not serve, or something is open."""
    away = {node.name for node in store.nodes() if node.state not in SERVING}
    tickets = {name for ticket in store.tickets() for name in ticket.nodes}
    cases = {case.node for case in store.cases(open_only=True)}
    return frozenset(away | tickets | cases | {alarm.node for alarm in store.standing_alarms()})

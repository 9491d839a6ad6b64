"""What metrics tell of the work: the history, the queue and who carries it, schedules, budgets, signals, the loop."""

from collections.abc import Iterable

from fleet_runner.adapters.store.faults.signal_counters import SignalCount
from fleet_runner.adapters.store.reliability.fleet_metrics import FleetGauges
from fleet_runner.core.budgets import disruption_budget
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.core.faults.rules.rules import Rules
from fleet_runner.core.faults.signals.signal import Source
from fleet_runner.core.faults.signals.speakers import ANOTHER, NO_RELAY
from fleet_runner.core.inventory.placement import living
from fleet_runner.core.lifecycle.metrics import OTHER, STAY_BOUNDS, Spread
from fleet_runner.core.lifecycle.runs import Outcome
from fleet_runner.core.lifecycle.states import REMEDIED, SERVING, Stage, State
from fleet_runner.core.schedules import firing
from fleet_runner.core.schedules.known import KNOWN
from fleet_runner.reconcile.budgets import allowance
from fleet_runner.reconcile.lifecycle import queue as queueing
from fleet_runner.reconcile.lifecycle.batches import in_line
from fleet_runner.web.metrics.history import Counts
from fleet_runner.web.metrics.samples import ScrapeSamples
from fleet_runner.web.site import Site

MOST = 50
"""Runners, trackers, channels and parts of the boot path that are told one by one."""

LISTENER, ALIVE_SECONDS = "listener", 35.0
"""Under which source listeners count themselves, and when one that says nothing is taken for gone."""

SOURCES = frozenset(source.value for source in Source)

TAKEN = ("taken", "repeated", "late", "held back")
"""What may become of a signal, beside being refused, which has many words."""

NOT_THEIRS = {ANOTHER: "refused_another_node", NO_RELAY: "refused_no_relay"}
"""Refusals of words from those who may not speak for a node: told apart, as somebody may be forging them."""

CAUSES = ("reset_needed", "reboot_needed", "triage_needed", "firmware_needed")
"""The events that take a node out of production and may bring it back."""


def history(sheet: ScrapeSamples, totals: Counts) -> None:
    """Tell what was counted of the history."""
    for (state, event, to), count in totals.moves.transitions.items():
        sheet.put("fleet_transitions", count, from_=state, event=event, to=to)
    for place in State:
        spread = totals.moves.stays.get(place) or Spread(STAY_BOUNDS)
        sheet.spread("fleet_stay_seconds", spread.copy(), state=place)
    for cause in CAUSES:
        spread = totals.moves.repairs.get(cause) or Spread(STAY_BOUNDS)
        sheet.spread("fleet_repair_seconds", spread.copy(), cause=cause)
    sheet.spread("fleet_bring_up_seconds", totals.moves.bring_up.copy())
    for stage in Stage:
        for outcome in Outcome:
            sheet.put("fleet_runs", totals.runs.get((stage, outcome), 0), stage=stage, outcome=outcome)
    for ran, spread in totals.seconds.items():
        sheet.spread("fleet_run_seconds", spread.copy(), stage=ran)
    for check in CHECKS:
        for verdict in Verdict:
            sheet.put("fleet_check_results", 0, check=check, verdict=verdict)
    for (check, said), count in totals.verdicts.items():
        sheet.put("fleet_check_results", count, check=check if check in CHECKS else OTHER, verdict=said)


def queue(sheet: ScrapeSamples, here: Site, glance: FleetGauges, now: float) -> None:
    """Tell of open runs, of batches between runners, and of who runs."""
    store, found = here.store, {stage: (count, oldest) for stage, count, oldest in glance.runs}
    for stage in Stage:
        count, oldest = found.get(stage, (0, now))
        sheet.put("fleet_runs_open", count, stage=stage)
        sheet.put("fleet_runs_open_oldest_seconds", max(0.0, now - oldest), stage=stage)
    at = store.clock() if store.shared else now
    waits = [max(0.0, at - offered) for offered in glance.waiting]
    runners = queueing.runners(here.settings, store)
    carried = glance.carried if store.shared else sum(runner.used for runner in runners)
    sheet.put("fleet_queue_batches", len(waits), standing="waiting")
    sheet.put("fleet_queue_batches", carried, standing="carried")
    sheet.put("fleet_queue_oldest_seconds", max([0.0, *waits]))
    sheet.put("fleet_queue_line_nodes", len(in_line(store)))
    sheet.put("fleet_queue_paused", store.queue_paused() is not None)
    alive = living(runners, here.settings.lease_seconds)
    sheet.put("fleet_runners", len(alive), standing="alive")
    sheet.put("fleet_runners", sum(not each.ending for each in runners) - len(alive), standing="silent")
    for each in sorted(runners, key=lambda runner: runner.silent)[:MOST]:
        sheet.put("fleet_runner_beat_seconds", each.silent, runner=each.id)
        sheet.put("fleet_runner_slots", each.used, runner=each.id, standing="used")
        sheet.put("fleet_runner_slots", each.slots, runner=each.id, standing="all")
    decides = queueing.deciding(here.settings, store)
    sheet.put("fleet_deciding", any(each.id == decides for each in runners))


def schedules(sheet: ScrapeSamples, here: Site) -> None:
    """Tell of what runs by the clock for the whole fleet; the sweeps of nodes are seen by the ages of answers."""
    now, rows, paused = here.store.schedules()
    for name in KNOWN.keys() & rows.keys():
        row = rows[name]
        late = 0.0 if row.is_running or name in paused or row.due_at <= 0.0 else max(0.0, now - row.due_at)
        sheet.put("fleet_schedule_late_seconds", late, schedule=name)
        sheet.put("fleet_schedule_failed", row.outcome == firing.Outcome.FAILED, schedule=name)
        sheet.put("fleet_schedule_paused", name in paused, schedule=name)
        if row.ended_at is not None:
            sheet.put("fleet_schedule_ended_seconds", max(0.0, now - row.ended_at), schedule=name)


def budgets(sheet: ScrapeSamples, here: Site, rules: Rules, seen: tuple[FleetGauges, float]) -> None:
    """Tell what automation may have out of the fleet, and has; `seen` is what stands in the store, and the moment."""
    glance, now = seen
    triaged = here.store.triaged(now - disruption_budget.RECENT)
    serving = sum(state in SERVING for _, _, state, _ in glance.nodes)
    out = tuple(
        disruption_budget.Out(name, disruption_budget.Location(), state, None)
        for name, _, state, _ in glance.nodes
        if state in REMEDIED or (name in triaged and state not in SERVING)
    )
    whole = (disruption_budget.Scope.FLEET, "")
    use = disruption_budget.use_of(
        disruption_budget.Usage({whole: serving}, out), *whole, allowance.limits(here.settings, rules)
    )
    sheet.put("fleet_budget_out", len(use.out))
    sheet.put("fleet_budget_limit", use.most)
    sheet.put("fleet_breaker_open", here.store.breaker() is not None)


def signals(sheet: ScrapeSamples, heard: Iterable[SignalCount], now: float) -> None:
    """Tell what was heard. Words that quote whoever sent something are told as one."""
    listeners = 0
    for each in heard:
        if each.source == LISTENER:
            listeners += now - each.last_at < ALIVE_SECONDS
            continue
        source = each.source if each.source in SOURCES else OTHER
        refused = NOT_THEIRS.get(each.what, "refused") if each.what.startswith("refused") else ""
        outcome = refused or (each.what if each.what in TAKEN else OTHER)
        sheet.put("fleet_signals", each.count, source=source, outcome=outcome)
    sheet.put("fleet_listeners", listeners)


def loop(sheet: ScrapeSamples, here: Site) -> None:
    """Tell how the runner's loop goes, where it is this process's."""
    pulse = here.pulse
    if pulse is None:
        return
    sheet.put("fleet_runner_rounds", pulse.rounds)
    sheet.put("fleet_runner_longest_round_seconds", pulse.longest)
    sheet.put("fleet_runner_moved_seconds", pulse.alive(here.settings.tick_seconds).seconds)
    sheet.put("fleet_runner_trouble", bool(pulse.trouble), what="round")
    sheet.put("fleet_runner_trouble", bool(pulse.source_trouble), what="source")

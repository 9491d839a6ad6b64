"""One scrape: one look at the store, put into words that Prometheus knows. No name of a node, no message."""

from collections import Counter
from collections.abc import Iterator
from importlib.metadata import version
from threading import Lock

from prometheus_client.metrics_core import Metric as Family

from fleet_runner.adapters.store.reliability.fleet_metrics import FleetGauges
from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.signals.signal import Source
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.core.lifecycle.metrics import OTHER, named, older
from fleet_runner.core.lifecycle.states import Condition, State
from fleet_runner.reconcile.faults.policy import Policy
from fleet_runner.web.metrics import work
from fleet_runner.web.metrics.history import Counted
from fleet_runner.web.metrics.requests import RequestCounter
from fleet_runner.web.metrics.samples import ScrapeSamples
from fleet_runner.web.site import Site

PLACES = 50
"""Pairs of site and device type that have names of their own, the largest; all others together are "other"."""

SLOW_SECONDS = 60.0
"""How long what walks a whole table is told again before it is read anew."""

UNKNOWN = "unknown"
"""The site of a node that the source of truth does not know, or not now."""


class Gathering:
    """What a registry collects from."""

    def __init__(self, here: Site, asked: RequestCounter) -> None:
        self.here, self.asked = here, asked
        self.counted = Counted(here.store, here.stop)
        self.policy = Policy()
        self._one = Lock()
        self._slow_at = float("-inf")
        self._slow: tuple[dict[str, float], int] = ({}, 0)

    def describe(self) -> list[Family]:
        """Nothing: a registry that asks would scrape."""
        return []

    def collect(self) -> Iterator[Family]:
        """Return every metric. Raises a StoreError where the store cannot be read."""
        with self._one:
            sheet = ScrapeSamples()
            totals = self.counted.totals()
            with self.here.store.one_moment():
                self._now(sheet)
            sheet.put("fleet_counted", totals is not None)
            if totals is not None:
                with self.counted.lock:
                    work.history(sheet, totals)
            self.asked.tell(sheet)
            work.loop(sheet, self.here)
            return sheet.families()

    def _now(self, sheet: ScrapeSamples) -> None:
        here, now = self.here, self.here.clock()
        glance, fleet = here.store.glance(now), here.fleet()
        sheet.put("fleet_info", 1, version=version("fleet-runner"))
        sheet.put("fleet_source_known", fleet is not None)
        _nodes(sheet, glance, fleet)
        _ages(sheet, glance, now)
        work.queue(sheet, here, glance, now)
        work.schedules(sheet, here)
        self._budget(sheet, glance, now)
        _beside(sheet, here, glance, now)
        self._walked(sheet, now)

    def _budget(self, sheet: ScrapeSamples, glance: FleetGauges, now: float) -> None:
        try:
            rules = self.policy.rules(self.here.settings)
        except FleetError:  # a policy that cannot be used is told where it is used; here a gap says enough
            return
        work.budgets(sheet, self.here, rules, (glance, now))

    def _walked(self, sheet: ScrapeSamples, now: float) -> None:
        """Tell what takes a walk through a whole table, at most once a minute."""
        if self.here.steady() - self._slow_at >= SLOW_SECONDS:
            self._slow = self.here.store.oldest_answers(), self.here.store.bytes_of_evidence()
            self._slow_at = self.here.steady()
        answers, evidence = self._slow
        for check, at in answers.items():
            if check in CHECKS:
                sheet.put("fleet_check_oldest_seconds", max(0.0, now - at), check=check)
        disk, free = self.here.store.disk_bytes()
        for what, size in (("disk", disk), ("free", free), ("evidence", evidence)):
            sheet.put("fleet_store_bytes", size, what=what)
        sheet.put("fleet_store_evidence_limit_bytes", self.here.settings.keep_evidence_bytes)


def _nodes(sheet: ScrapeSamples, glance: FleetGauges, fleet: Fleet | None) -> None:
    """Count nodes; each place that there is has every state, so that none vanishes when its last node leaves it."""
    devices = fleet.devices if fleet is not None else {}
    counted: Counter[tuple[str, ...]] = Counter()
    for name, device_type, state, _ in glance.nodes:
        device = devices.get(name)
        counted[device.site if device is not None and device.site else UNKNOWN, device_type, state] += 1
    places: Counter[tuple[str, ...]] = Counter()
    for (site, device_type, _), count in counted.items():
        places[site, device_type] += count
    told = named(places, PLACES)
    for site, device_type in set(told.values()):
        for state in State:
            sheet.put("fleet_nodes", 0, state=state, site=site, device_type=device_type)
    for (site, device_type, state), count in counted.items():
        where = told[site, device_type]
        sheet.put("fleet_nodes", count, state=state, site=where[0], device_type=where[1])


def _ages(sheet: ScrapeSamples, glance: FleetGauges, now: float) -> None:
    found: dict[str, list[float]] = {state.value: [] for state in State}
    for _, _, state, since in glance.nodes:
        found[state].append(now - since)
    for state, ages in found.items():
        for over, count in older(ages):
            sheet.put("fleet_nodes_older", count, state=state, over_seconds=f"{over:.0f}")
        sheet.put("fleet_nodes_oldest_seconds", max([0.0, *ages]), state=state)
    for condition in Condition:
        sheet.put("fleet_nodes_condition", glance.conditions.get(condition, 0), condition=condition)
    sheet.put("fleet_nodes_due", glance.due)


def _beside(sheet: ScrapeSamples, here: Site, glance: FleetGauges, now: float) -> None:
    remedies = Counter(remedy for remedy, _ in glance.tickets)
    for remedy in (*Remedy, OTHER):
        sheet.put("fleet_tickets_open", remedies.pop(remedy, 0), remedy=remedy)
    sheet.put("fleet_tickets_open", remedies.total(), remedy=OTHER)
    for over, count in older(now - at for _, at in glance.tickets):
        sheet.put("fleet_tickets_older", count, over_seconds=f"{over:.0f}")
    for source in Source:
        sheet.put("fleet_alarms", glance.alarms.get(source, 0), source=source)
    sheet.put("fleet_flashes_open", glance.flashes)
    for kind, name, tries in glance.tries[: work.MOST]:
        sheet.put("fleet_telling_tries", tries, kind=kind, name=name)
    for part, at in sorted(glance.beats.items())[: work.MOST]:
        sheet.put("fleet_boot_beat_seconds", max(0.0, now - at), part=part)
    work.signals(sheet, here.store.heard(), now)

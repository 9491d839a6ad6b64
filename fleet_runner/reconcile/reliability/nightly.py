"""The night's look at what is stored: gather what is new, analyse it, write down what is foreseen, raise alarms.

Each analysis fails alone: one that cannot be made is said, and what it foresaw before stands as it is.
"""

import time
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol

from fleet_runner.adapters import source
from fleet_runner.adapters.files import policy
from fleet_runner.adapters.logs import log
from fleet_runner.adapters.plays import profiles
from fleet_runner.adapters.plays.wake import wake
from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import ConflictError, FleetError, SettingsError
from fleet_runner.core.checks import baseline
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.core.lifecycle import scheduler
from fleet_runner.core.lifecycle.states import ENDED
from fleet_runner.core.reliability.forecasts import DRIFTS, Foresight, Gathered, Kind
from fleet_runner.core.reliability.trends import stored
from fleet_runner.reconcile.reliability.alarms import foretell
from fleet_runner.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fleet_runner.core.reliability.trends.analyse import Given, MetricAnalysis
    from fleet_runner.core.reliability.trends.heat import Seen
    from fleet_runner.core.reliability.trends.metrics import Metric
    from fleet_runner.core.reliability.trends.peers import Location

NAME = "trend"
"""The schedule of the night's look."""

DAYS = 90
"""Days that drift is looked for in: with more of them a night would cost more, and say little more.

What is told too seldom for that is looked at in weeks (`core.reliability.trends.weeks`).
"""

DAY = 86_400

MOST = 100_000
"""Foresights that stand at once and are told of as alarms."""

Progress = Callable[[str], None]


class AnalysisOutcome(Protocol):
    """What an analysis came to."""

    def to_json(self) -> dict[str, Any]:
        """Return the body that is kept."""
        ...


@dataclass(slots=True)
class Night:
    """One look: at what, at which moment, who is told how far it is, and what could not be done.

    `without` is why it does without the source of truth, "" where it has it.
    """

    settings: Settings
    store: Store
    now: float
    go_on: Callable[[], None]
    progress: Progress
    broken: dict[str, str] = field(default_factory=dict[str, str])
    without: str = ""
    begun: int = 0
    ended: int = 0

    def step(self, sentence: str) -> None:
        """Say what comes next, unless this is to end."""
        self.go_on()
        self.progress(sentence)

    @contextmanager
    def alone(self, name: str) -> "Iterator[None]":
        """Have what fails in it be said, and end nothing else; what ends the job as a whole does."""
        try:
            yield
        except ConflictError:
            raise
        except FleetError as error:
            self._failed(name, str(error))
        except Exception as error:
            log.exception("an analysis failed", analysis=name)
            self._failed(name, f"{type(error).__name__}; this runner's log says more")

    def keep(self, name: str, came_to: AnalysisOutcome, began: float) -> None:
        """Keep what an analysis came to; `began` is by the monotonic clock."""
        self.store.keep_analysis(name, came_to.to_json(), self.now, round(time.monotonic() - began, 3))

    def foresee(self, kinds: frozenset[Kind], found: tuple[Foresight, ...]) -> None:
        """Keep what is foreseen, of these kinds; nothing is of a node that left the fleet, whatever it left."""
        left = frozenset(node.name for node in self.store.nodes() if node.state in ENDED)
        news = self.store.foresee(kinds, [each for each in found if each.node not in left], self.now)
        self.begun += len(news.begun)
        self.ended += len(news.ended)

    def _failed(self, name: str, why: str) -> None:
        log.error("an analysis failed; the others continue", analysis=name, why=why)
        self.broken[name] = why


def look(settings: Settings, store: Store, go_on: Callable[[], None]) -> str:
    """Look at what is stored, as the schedule asks; say what came of it.

    Raises:
        FleetError: something could not be done; the rest was, and the sentence says which.
    """
    return run(settings, store, go_on, lambda _: None)


def run(
    settings: Settings, store: Store, go_on: Callable[[], None], progress: Progress, now: float | None = None
) -> str:
    """Do the same, and tell somebody how far it is."""
    night = Night(settings, store, time.time() if now is None else now, go_on, progress)
    gathered = Gathered()
    fleet: Fleet | None = None
    with night.alone("gathering"):
        gathered = _gathered(night)
    with night.alone("the source of truth"):
        fleet = _fleet(night)
    _trends(night, fleet)
    for name, analysis in ANALYSES.items():
        night.step(f"{name}: being looked at")
        with night.alone(name):
            analysis(night, fleet)
    night.step("alarms: updated from the predictions")
    with night.alone("alarms"):
        _alarms(night)
    said = _sentence(night, gathered)
    if night.broken:
        raise FleetError(said)
    return said


def _fleet(night: Night) -> Fleet | None:
    """Return what the source of truth has; while it is away, a night says so and is made all the same."""
    try:
        return source.read(night.settings, as_kept=True)
    except ConflictError:
        raise
    except FleetError as error:
        log.warning("the nightly analysis runs without the source of truth", why=str(error))
        night.without = str(error)
        return None


def _gathered(night: Night) -> Gathered:
    from fleet_runner.core.reliability.trends.metrics import METRICS  # noqa: PLC0415  only whoever looks pays for numpy

    def told(sentence: str) -> None:
        night.step(f"gathering: {sentence}")

    return night.store.gather(METRICS, told, now=night.now)


def _trends(night: Night, fleet: Fleet | None) -> None:
    """Look at each metric once, for its drift and for its heat: a window of the whole fleet is in memory alone."""
    from fleet_runner.core.reliability.trends import analyse, heat  # noqa: PLC0415  as above
    from fleet_runner.core.reliability.trends.metrics import METRICS  # noqa: PLC0415  as above

    began = time.monotonic()
    drifts: list[MetricAnalysis] = []
    heats: list[Seen] = []
    with night.alone("drift"):
        stays, where, held = night.store.stays_by_id(), _places(night.store, fleet), _profiles(night)
        until = int(night.now // DAY) - 1  # today is not over
        stood = tuple(each.what for each in night.store.foresights(limit=MOST) if each.what.kind in DRIFTS)
        weekly = _weekly(night.store)
        for at, metric in enumerate(METRICS, start=1):
            night.step(f"drift: metric {at} of {len(METRICS)}, {metric.name}")
            window = night.store.window(metric.name, until - DAYS + 1, until)
            marks = _marks(metric, held)
            given = analyse.Given(metric, window, stays, where, marks)
            drifts.append(_drift(night, given, stood, weekly.get(metric.name, frozenset())))
            with night.alone("heat"):
                heats.append(heat.look(metric, window, stays, where, marks))
        drift = analyse.Drift(tuple(drifts), stood)
        night.keep("drift", drift, began)
        night.foresee(DRIFTS, drift.foresights())
    if not {"drift", "heat"} & night.broken.keys():
        with night.alone("heat"):
            night.keep("heat", heat.HeatMap(tuple(heats)), began)


def _drift(night: Night, given: "Given", stood: tuple[Foresight, ...], before: frozenset[str]) -> "MetricAnalysis":
    """Look at a metric in days, and at those of its series in weeks that come too seldom for that.

    `before` are the device types whose series were looked at in weeks the last time.
    """
    from fleet_runner.core.reliability.trends import analyse, weeks  # noqa: PLC0415  as above

    metric, stays, where, marks = given.metric, given.stays, given.places, given.marks
    parted = weeks.parted(given.window, stays, where, before)
    looked = analyse.look(metric, parted.often, stays, where, marks, stood=stood)
    if not parted.device_types:
        return looked
    window = night.store.weeks(metric.name, int(given.window.days[-1]), parted.seldom)
    return looked.beside(analyse.look(metric, window, stays, where, marks, stood=stood), parted.device_types)


def _weekly(store: Store) -> dict[str, frozenset[str]]:
    """Return which device types of each metric were looked at in weeks the last time."""
    kept = store.analysis("drift")
    rows = stored.rows(kept.body if kept else None, "metrics", "metric", "weekly")
    return {str(each["metric"]): frozenset(each["weekly"]) for each in rows}


def _parts(night: Night, _: Fleet | None) -> None:
    from fleet_runner.adapters.reliability import lemons  # noqa: PLC0415  only whoever looks pays for it

    began = time.monotonic()
    found = lemons.parts(night.store, night.now)
    night.keep("parts", found, began)
    night.foresee(frozenset({Kind.SLOT, Kind.PART}), tuple(found.foresights()))


def _lemons(night: Night, fleet: Fleet | None) -> None:
    from fleet_runner.adapters.reliability import lemons  # noqa: PLC0415  likewise

    began = time.monotonic()
    names = scheduler.names(fleet.devices.values()) if fleet is not None else {}
    found = lemons.lemons(night.store, night.settings, night.now, lambda said: night.step(f"lemons: {said}"), names)
    night.keep("lemons", found, began)
    night.foresee(frozenset({Kind.LEMON}), tuple(found.foresights()))


def _lifetimes(night: Night, fleet: Fleet | None) -> None:
    from fleet_runner.adapters.store.reliability import lifetimes  # noqa: PLC0415  only whoever looks pays for scipy
    from fleet_runner.core.reliability.lifetimes import analyse  # noqa: PLC0415  likewise

    began = time.monotonic()
    devices = fleet.devices.values() if fleet is not None else ()
    parts = chain.from_iterable(device.parts for device in devices)
    models = {part.serial: part.model for part in parts if part.serial}
    night.keep("lifetimes", analyse.analyse(lifetimes.read(night.store, models, night.now)), began)


def _worth(night: Night, _: Fleet | None) -> None:
    from fleet_runner.adapters.reliability import check_value  # noqa: PLC0415  only whoever looks pays for it

    began = time.monotonic()
    night.keep("worth", check_value.worth(night.store, night.now), began)


def _limits(night: Night, _: Fleet | None) -> None:
    from fleet_runner.adapters.reliability import check_value  # noqa: PLC0415  likewise

    began = time.monotonic()
    night.keep("limits", check_value.limits(night.store, night.settings, night.now), began)


def _weeks(night: Night, _: Fleet | None) -> None:
    from fleet_runner.core.reliability.report import figures, weeks  # noqa: PLC0415  only whoever looks pays for it

    began = time.monotonic()
    spans = weeks.spans(night.now)
    found = night.store.reports_rows(spans, night.now, lambda said: night.step(f"weeks: {said}"))
    told = [figures.figures(each, span, night.now) for each, span in zip(found, spans, strict=True)]
    night.keep("weeks", weeks.analyse(found, told), began)


ANALYSES: Mapping[str, Callable[[Night, Fleet | None], None]] = {
    "parts": _parts,
    "lemons": _lemons,
    "lifetimes": _lifetimes,
    "worth": _worth,
    "limits": _limits,
    "weeks": _weeks,
}
"""What is looked at after drift and heat, in this order."""


def _alarms(night: Night) -> None:
    rules = policy.rules(night.settings)
    stands = night.store.foresights(limit=MOST)
    if foretell(night.store, rules, stands, night.now, night.go_on):
        wake(night.settings.state_dir, night.store)


def _places(store: Store, fleet: Fleet | None) -> "Mapping[str, Location]":
    """Return where nodes are; without the source of truth only of which device type the store knows them."""
    from fleet_runner.core.reliability.trends import peers  # noqa: PLC0415  it needs numpy

    if fleet is not None:
        return peers.places_of(fleet)
    return {name: peers.Location(kind) for name, kind in store.node_types().items()}


def _profiles(night: Night) -> dict[str, dict[str, Any]]:
    """Return the profiles of the fleet's device types; one that cannot be read has no marks."""
    found: dict[str, dict[str, Any]] = {}
    for kind in sorted(set(night.store.node_types().values())):
        try:
            found[kind] = profiles.read(night.settings, kind)
        except SettingsError as error:
            log.warning("a device type has no marks to predict", device_type=kind, why=str(error))
    return found


def _marks(metric: "Metric", held: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """Return what a metric is held against, by device type."""
    if not metric.mark:
        return {}
    found = ((kind, next(baseline.values(profile, metric.mark), None)) for kind, profile in held.items())
    return {kind: mark for kind, mark in found if mark is not None}


def _sentence(night: Night, gathered: Gathered) -> str:
    waits = gathered.left_out.get("ahead", 0)
    left = sum(gathered.left_out.values()) - waits
    asides = [f"{left:,} left out"] if left else []
    asides += [f"{waits:,} dated in the future wait"] if waits else []
    aside = f" ({', '.join(asides)})" if asides else ""
    said = f"{gathered.results:,} results read{aside}, "
    said += f"{night.begun:,} predicted, {night.ended:,} no longer seen"
    if night.without:
        said += (
            f"; racks, sites and models of parts are left out, because the source of truth is away: {night.without}"
        )
    troubles = "; ".join(f"{name}: {why}" for name, why in night.broken.items())
    return f"{said}; not done: {troubles}" if troubles else said

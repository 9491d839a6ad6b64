"""A hall of whose tomorrow something is known: two months of numbers, what is foreseen, every analysis."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import insert

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.schema.trends import panels, stays
from fleet_runner.core.reliability.forecasts import Foresight, Kind
from fleet_runner.core.reliability.trends import heat, packing
from fleet_runner.core.reliability.trends.metrics import BY_NAME
from fleet_runner.core.reliability.trends.panel import DAY, Panel
from fleet_runner.core.reliability.trends.peers import Location
from tests.web.hall import HOSTILE, NOW, Hall

LAST = int(NOW // DAY) - 1
DAYS, GPUS = 60, 8
HOT, JUMPED = 3, 18
"""Rows (nodes times GPUs) of the GPU that warms up, and of the one that jumped."""

METRIC, OTHERS = "gpu_memory_margin", ("gpu_core", "gpu_watts")


def component(slot: int) -> str:
    """Return how findings name the GPU of a slot."""
    return f"GPU 0000:{16 * slot + 11:02x}:00.0"


def numbers(rows: int, name: str) -> NDArray[np.float32]:
    """Return two months of a metric: noise, slot 5 and a rack warmer, one GPU that drifts and one that jumped."""
    chance = np.random.default_rng(len(name))
    level = 30 + chance.normal(0, 2, (rows, 1))
    level[5::GPUS] -= 4
    level[4 * GPUS * 3 : 4 * GPUS * 4] -= 2.5
    found = level + chance.normal(0, 0.7, (rows, DAYS))
    if name == METRIC:
        found[HOT, 20:] -= 0.42 * np.arange(DAYS - 20)
        found[JUMPED, 45:] -= 9
        found[HOT, 31:34] = np.nan
    return found.astype(np.float32)


def drift(number: int, nodes: tuple[str, ...]) -> Foresight:
    """Foresee that the GPU of a row goes where its mark lies, or jumped."""
    node, gpu = nodes[number // GPUS], component(number % GPUS)
    mark = {"unit": "celsius to its limit", "mark": 5.0}
    if number == HOT:
        said = f"{METRIC} has fallen by 0.42 a day since 2026-10-08; it crosses its mark of 5 in 20 days (17 to 24)"
        crosses = {"crosses_in_days": 20.3, "crosses_soonest_days": 17.0, "crosses_latest_days": 24.2}
        known = {**mark, **crosses, "since_day": "2026-10-08"}
        return Foresight(Kind.TREND, node, gpu, said, METRIC, "GP000003", known)
    said = f"{METRIC} jumped from 31 to 22 on 2026-11-02, those of 200 peers did not {HOSTILE}"
    known = {**mark, "since_day": "2026-11-02", "crosses_in_days": None}
    return Foresight(Kind.SHIFT, node, gpu, said, METRIC, "", known)


def foreseen(hall: Hall) -> None:
    """Fill a hall's store with what the nightly analysis would have."""
    rows = len(hall.names) * GPUS
    parts(hall.store, hall.names)
    for name in (METRIC, *OTHERS):
        kept(hall.store, name, numbers(rows, name))
    hall.store.foresee(
        frozenset({Kind.SHIFT, Kind.TREND}), [drift(each, hall.names) for each in (HOT, JUMPED)], NOW - 86_400
    )
    lemon = Foresight(Kind.LEMON, hall.names[2], "", f"{hall.names[2]} causes more work than others {HOSTILE}")
    hall.store.foresee(frozenset({Kind.LEMON}), [lemon], NOW - 3 * 86_400)
    for name, body in bodies(hall):
        hall.store.keep_analysis(name, body, NOW - 7_200, 12.5)


def parts(store: Store, names: tuple[str, ...]) -> None:
    """Say which part is where."""
    given = [
        {"id": 1 + at * GPUS + slot, "kind": "gpu", "serial": f"GP{at:05d}{slot}", "node": name,
         "component": component(slot), "slot": f"GPU {slot}", "first_at": NOW - DAYS * DAY, "last_at": NOW}
        for at, name in enumerate(names)
        for slot in range(GPUS)
    ]  # fmt: skip
    with store._database.write() as connection:
        connection.execute(insert(stays), given)


def kept(store: Store, name: str, middle: NDArray[np.float32]) -> None:
    """Keep a metric's numbers, day by day."""
    given = []
    for at in range(DAYS):
        told = np.flatnonzero(np.isfinite(middle[:, at]))
        ids, ones = (told + 1).astype(np.uint32), np.full(len(told), 24, np.uint32)
        panel = Panel(name, LAST - DAYS + 1 + at, ids, ones, middle[told, at], np.full(len(told), 0.5, np.float32))
        given.append({"metric": name, "day": panel.day, "rows": len(told), "body": packing.encode(panel)})
    with store._database.write() as connection:
        connection.execute(insert(panels), given)


def heated(hall: Hall) -> dict[str, Any]:
    """Return what the analysis of heat says of these numbers."""
    known = hall.store.stays_by_id()
    places = {
        each.name: Location(each.device_type, each.site, each.rack or "") for each in hall.fleet.devices.values()
    }
    windows = (hall.store.window(name, LAST - DAYS + 1, LAST) for name in (METRIC, *OTHERS))
    seen = tuple(heat.look(BY_NAME[window.metric], window, known, places) for window in windows)
    return heat.HeatMap(seen).to_json()


def bodies(hall: Hall) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return every analysis as it is kept."""
    yield "heat", heated(hall)
    yield "drift", DRIFT
    yield "worth", WORTH
    yield "limits", LIMITS
    yield "lifetimes", LIFETIMES
    yield "lemons", LEMONS
    yield "parts", PARTS
    yield "weeks", WEEKS


DRIFT = {
    "sentences": ["640 series of 3 metrics over 60 days; 631 could be judged.", f"2 things are foreseen {HOSTILE}"],
    "together": [{"sentence": f"rack R009 of hall-1: gpu_core of 32 parts moved together by +6.1 {HOSTILE}"}],
    "silences": [
        {"reason": "short", "count": 4200, "sentence": "not enough data: told on fewer than 21 days"},
        {"reason": "unit", "count": 0, "sentence": "the unit seems to have changed"},
    ],
}
WORTH = {
    "sentences": ["412 faults on 200 nodes in 30 days.", "31 minutes would find the same faults but 2.1 %."],
    "checks": [
        {"check": check, "first": first, "alone": first // 2, "unconfirmed": 2, "minutes_a_week": minutes,
         "sentence": f"{check} found {first} faults first {HOSTILE}"}
        for check, first, minutes in (("gpu_errors", 118, 13.8), ("training", 3, 394.6), ("", 40, None))
    ],
    "schedules": [
        {"name": "in service", "sentence": "In service, 31 of 182 minutes a node and week would do.",
         "steps": [{"sentence": "training: at every 24th round instead of each, 5 instead of 120 minutes"}]},
        {"name": "in bring-up", "sentence": "In bring-up: not enough data: 4 faults", "steps": []},
    ],
}  # fmt: skip
LIMITS = {
    "sentences": ["19 limits of 2 device types could be learned from 187 good nodes; 6 would change."],
    "limits": [
        {"device_type": "hgx", "key": "limits.gpu_tlimit_margin_celsius", "unit": "celsius", "now": 5.0,
         "proposed": 14.0, "flagged": [{"node": "gpu-00012", "bad": True}], "flagged_nodes": 1, "flagged_bad": 1,
         "sentence": "at least 14 instead of 5; 187 good nodes had 28 ± 2.5, none of them would be flagged"},
        {"device_type": "dgx", "key": "disk_health.celsius_max", "unit": "celsius", "now": 70.0, "proposed": None,
         "flagged": [], "flagged_nodes": 0, "flagged_bad": 0, "sentence": f"not enough data: 60 numbers {HOSTILE}"},
    ],
}  # fmt: skip


def curve(name: str, ages: str, each: float, share: float) -> dict[str, Any]:
    """Return survival that falls by the same share with each of twenty ages."""
    told = [share**at for at in range(20)]
    return {
        "name": name,
        ages: [each * at for at in range(20)],
        "share": told,
        "low": [max(0.0, here - 0.003 * at) for at, here in enumerate(told)],
        "high": [min(1.0, here + 0.002 * at) for at, here in enumerate(told)],
    }


LIFETIMES: dict[str, Any] = {
    "sentences": ["GPUs: 21 of 960 failed in 742 years of service together, one in 35.3 years (23.1 to 57.1)."],
    "kinds": [
        {"name": "GPUs", "sentence": "21 of 960 failed.", "survival_sentence": "97.6 % live to the age of 365 d.",
         "curve": curve("all GPUs", "ages_days", 18.0, 0.9985), "weibull": {"sentence": "They fail while young."},
         "cohorts": [
             {"by": "device type", "sentence": "They differ more than chance explains.", "rows": [
                 {"sentence": f"{name}: so many of so many {HOSTILE}",
                  "curve": curve(name, "ages_days", 18.0, share)}
                 for name, share in (("hgx-h100", 0.998), ("hgx-b200", 0.9995), (f"strange {HOSTILE}", 0.9994))]},
             {"by": "part model", "sentence": "Not enough data: there is only one.", "rows": []}]},
        {"name": "optics", "sentence": "1 of 384 failed.", "survival_sentence": "Not enough data.", "curve": None,
         "weibull": {"sentence": "Not enough data."}, "cohorts": []},
    ],
    "burn_in": {
        "sentence": "120 burn-ins, 14 of which found a fault: half of these within 5.5 h.",
        "curve": curve("burn-in", "ages_hours", 2.5, 0.993),
        "rows": [{"hours": 24.0, "sentence": "24 h instead of 48 h would have let 2.8 % of nodes through."}],
        "early": {"days": 30, "sentence": "In their first 30 d nodes were taken out 3.1 times as often as later."},
    },
    "service": {
        "sentence": "48 nodes were in production for 98.7 % of the time.",
        "causes": [
            {"cause": "xid.79", "exclusions": 30, "gpu_hours": 14_400.0, "sentence": f"xid.79: 30 times {HOSTILE}"},
            {"cause": "firmware update", "exclusions": 48, "gpu_hours": 320.0, "sentence": "48 times on 48 nodes."},
        ],
    },
    "jobs": {
        "sentence": "A node drops out of production unasked every 75 d (58 d to 99 d).",
        "rows": [
            {"nodes": 128, "hours": 168, "expected": 11.976744186046512, "expected_low": 9.05, "expected_high": 15.41,
             "none_chance": 0.0001, "sentence": "A job of 128 nodes over 168 h."},
            {"nodes": 1, "hours": 24, "expected": 0.01, "none_chance": None, "sentence": "A job of a node."},
        ],
    },
    "cut": "",
}  # fmt: skip

LEMONS: dict[str, Any] = {
    "mark": 10.0,
    "sentences": ["2 of 400 nodes reach 10 points in 28 days; triage is suggested for them."],
    "signals": [{"name": name, "meaning": meaning} for name, meaning in (("out", "times it left production"),)],
    "absent": [{"name": "jobs", "sentence": f"jobs that failed: not known, no scheduler tells it {HOSTILE}"}],
    "lemons": [
        {"node": f"gpu-{at:05d}", "points": 3.5 * (6 - at), "suggested": at < 4,
         "lines": [{"signal": "out", "points": 2.0 * (6 - at), "sentence": f"so often it left production {HOSTILE}"},
                   {"signal": f"tickets {HOSTILE}", "points": 1.5 * (6 - at), "sentence": "so many tickets"}]}
        for at in range(1, 6)
    ],
    "past": {"sentence": "On the fleet's own past (5 times, 30 days after each).", "marks": [
        {"mark": 10.0, "flagged": 14, "right": 11, "precision": 0.786, "precision_low": 0.524,
         "precision_high": 0.924, "recall": None}]},
}  # fmt: skip
PARTS: dict[str, Any] = {
    "sentences": ["128 parts failed in 400 days; 9 were seen in more than one node."],
    "slots": [{"node": "gpu-00003", "sentence": f"3 different parts failed in GPU 3 of gpu-00003 {HOSTILE}",
               "lines": [{"at": 1.0, "sentence": f"2025-04-18: 1650000000004 failed with xid.79 {HOSTILE}"}]}],
    "parts": [{"node": "gpu-00004", "sentence": "gpu 1650000000777 failed in 2 places"}],
}  # fmt: skip

WEEKS: dict[str, Any] = {
    "sentences": [f"In 13 weeks, 91 faults were seen {HOSTILE}"],
    "weeks": [
        {"week": f"2026-W{34 + at}", "nodes": 32, "served_seconds": 1.9e7, "lost_seconds": 9e4 * at,
         "availability": None if at == 0 else 1 - 0.004 * at, "other_faults": at % 2,
         "causes": [{"cause": f"{code} {HOSTILE}" if code == "odd" else code, "faults": (at * number) % 7, "nodes": 1}
                    for number, code in enumerate(("xid.79", "xid.48", "fan.failed", "psu.faulty", "link.flaps",
                                                   "gpu.hot", "odd", "disk.worn"), 1)],
         "lost": [{"cause": "xid.79", "seconds": 9e4 * at}, {"cause": "firmware update", "seconds": 3e4}]}
        for at in range(13)
    ],
    "repairs": [{"cause": '=HYPERLINK("x")', "times": 0, "mean": None, "median": None, "longest": None, "still": 2},
                {"cause": f"xid.79 {HOSTILE}", "times": 1, "mean": 3e4, "median": 3e4, "longest": 3e4, "still": 1},
                {"cause": "fan.failed", "times": 4, "mean": 1e4, "median": 9e3, "longest": 2e4, "still": 0}],
    "waited": [{"state": state, "nodes": 9, "median": seconds, "ninetieth": 2 * seconds, "share": share}
               for state, seconds, share in (("onboard", 3e4, 0.3), ("burn_in", 9e4, 0.7))],
    "brought_up": 9,
}  # fmt: skip

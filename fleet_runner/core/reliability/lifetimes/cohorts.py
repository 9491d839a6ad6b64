"""Parts of one kind: how often they fail, how old they get, and whether some cohorts of them fail more often."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from fleet_runner.core.base.plural import counted
from fleet_runner.core.reliability.lifetimes import rates, survival, weibull
from fleet_runner.core.reliability.lifetimes.fatal import called, why
from fleet_runner.core.reliability.lifetimes.lives import Life
from fleet_runner.core.reliability.lifetimes.rates import Between
from fleet_runner.core.reliability.lifetimes.saying import (
    ENOUGH_OF_PARTS,
    YEAR,
    amount,
    days,
    none_of,
    percent,
    too_short,
)
from fleet_runner.core.reliability.lifetimes.survival import Curve, Sample

FEWEST = 5
"""Failures that a curve, and a comparison of cohorts, needs."""

MOST = 12
"""Cohorts that are held against each other; beyond, the smallest are one cohort."""

REST = "all others"

POINTS = 120
"""Of a curve that is kept."""

SURE = 0.05
"""The chance that cohorts that do not differ are said to, over all comparisons together."""

NUMBERS = ("chi_square", "p", "p_adjusted")

Ages = Callable[[Life], str]


def kinds(lives: Iterable[Life], types: Mapping[str, str], models: Mapping[str, str]) -> list[dict[str, Any]]:
    """Tell of every kind of part; `types` are those of nodes, `models` those of parts by their serial numbers."""
    by_kind: dict[str, list[Life]] = defaultdict(list)
    for life in lives:
        by_kind[life.kind].append(life)
    groupings: Mapping[str, Ages] = {
        "device type": lambda life: types.get(life.node, ""),
        "part model": lambda life: models.get(life.serial, ""),
        "month in which they were new": lambda life: life.month if life.aged else "",
    }
    found = [_kind(kind, mine, groupings) for kind, mine in sorted(by_kind.items())]
    _adjust([each for kind in found for each in kind["cohorts"] if each["p"] is not None])
    return found


def _kind(kind: str, lives: Sequence[Life], groupings: Mapping[str, Ages]) -> dict[str, Any]:
    name = called(kind)
    aged = [life for life in lives if life.aged]
    sample = _sample(aged)
    unknown = len({life.serial for life in lives if not life.aged})
    drawn = survival.curve(sample) if sample.failures >= FEWEST else None
    codes = Counter(life.code for life in lives if life.code)
    causes = [{"code": code, "why": why(kind, code), "failures": count} for code, count in codes.most_common()]
    return {
        "kind": kind,
        "name": name,
        **_often(name, lives),
        "age_unknown": unknown,
        "survival_sentence": _survival(name, drawn, sample, unknown),
        "causes": causes,
        "curve": None if drawn is None else plain(f"all {name}", drawn, "days"),
        "weibull": _law(name, sample),
        "cohorts": [_compare(by, of, aged, name) for by, of in groupings.items()],
    }


def _often(name: str, lives: Sequence[Life]) -> dict[str, Any]:
    """Tell how often parts fail: time in service of all together over failures, whatever their age."""
    times: dict[str, float] = defaultdict(float)
    failures: Counter[str] = Counter()
    for life in lives:
        times[life.node] += (life.exit - life.entry) / YEAR
        failures[life.node] += bool(life.code)
    parts = len({life.serial for life in lives})
    found = rates.rate([failures[node] for node in times], list(times.values()))
    row = {"parts": parts, "failures": failures.total(), "part_years": sum(times.values())}
    keys = ("mtbf_years", "mtbf_years_low", "mtbf_years_high")
    if found is None:
        return row | dict.fromkeys(keys) | {"sentence": f"Not enough data for {name}: none was watched for any time."}
    said = f"{name}: {found.events:,} of {parts:,} failed"
    if found.time * YEAR < ENOUGH_OF_PARTS:
        said += f"; {too_short(found.time * YEAR, 'part')}."
        return row | dict.fromkeys(keys) | {"sentence": said[0].upper() + said[1:]}
    between = found.between
    said += f" in {counted(amount(found.time), 'year')} of service together"
    if not found.events:
        said += f", so there is less than one failure in {_years(between.low or 0)} (95 % sure)."
        return (
            row | dict(zip(keys, (None, between.low, None), strict=True)) | {"sentence": said[0].upper() + said[1:]}
        )
    said += f", one in {_years(between.value)} (95 % interval {within(between, _years)})."
    numbers = (between.value, between.low, between.high)
    return row | dict(zip(keys, numbers, strict=True)) | {"sentence": said[0].upper() + said[1:]}


def _years(value: float) -> str:
    """Return years in the unit in which people say so many."""
    return days(value * YEAR)


def _survival(name: str, drawn: Curve | None, sample: Sample, unknown: int) -> str:
    left = f" {unknown:,} are left out: their age is not known." if unknown else ""
    if sample.failures < FEWEST:
        return none_of(f"a survival curve of {name}", sample.failures, FEWEST) + left
    if drawn is None:
        return f"Not enough data for a survival curve of {name}: {survival.AT_RISK} of one age are needed." + left
    first, last = float(drawn.ages[0]), float(drawn.ages[-1])
    reached = Between(float(drawn.share[-1]), float(drawn.low[-1]), float(drawn.high[-1]))
    whose = f"of {name}" if first <= 1 else f"of {name} that reach {days(first)}"
    return f"{percent(reached.value)} {whose} ({within(reached, percent)}) live to the age of {days(last)}.{left}"


def _law(name: str, sample: Sample) -> dict[str, Any]:
    keys = ("shape", "shape_low", "shape_high", "scale_years", "tenth_failed_days", "tenth_failed_days_low",
            "tenth_failed_days_high")  # fmt: skip
    found = weibull.fit(sample)
    if found is None:
        few = none_of(f"a Weibull fit of {name}", sample.failures, weibull.FEWEST)
        odd = f"The failures of {name} do not fit a Weibull distribution with the data so far."
        return dict.fromkeys(keys) | {"sentence": few if sample.failures < weibull.FEWEST else odd}
    shape, tenth = found.shape, found.tenth
    low, high = shape.low or 0.0, shape.high or 0.0
    number = f"the Weibull shape is {amount(shape.value)} ({within(shape, amount)})"
    match low > 1, high < 1:
        case True, _:
            said = f"They wear: the older they are, the more often they fail; {number}, above 1."
        case _, True:
            said = f"They fail more often while they are young; {number}, below 1."
        case _:
            said = f"Neither wear nor infant mortality is seen: {number}, and 1 is chance alone."
    ages = (None, None, None) if tenth is None else (tenth.value, tenth.low, tenth.high)
    if tenth is not None:
        said += f" A tenth has failed by the age of {days(tenth.value)} ({within(tenth, days)})."
    numbers = (shape.value, low, high, found.scale / YEAR, *ages)
    return dict(zip(keys, numbers, strict=True)) | {"sentence": said}


def _compare(by: str, of: Ages, lives: Sequence[Life], name: str) -> dict[str, Any]:
    groups: dict[str, list[Life]] = defaultdict(list)
    for life in lives:
        if which := of(life):
            groups[which].append(life)
    samples = {which: _sample(mine) for which, mine in groups.items()}
    failures = sum(each.failures for each in samples.values())
    empty: dict[str, Any] = {"by": by, **dict.fromkeys(NUMBERS), "rows": []}
    if len(groups) < 2:  # noqa: PLR2004  it takes two
        known = "only one is known" if groups else "none is known"
        return empty | {"sentence": f"Not enough data to compare {name} by {by}: {known}."}
    if failures < FEWEST:
        return empty | {"sentence": none_of(f"a comparison of {name} by {by}", failures, FEWEST)}
    sizes = {which: len({life.serial for life in mine}) for which, mine in groups.items()}
    kept = sorted(samples, key=lambda which: (-sizes[which], which))
    shown, small = (kept, []) if len(kept) <= MOST else (kept[: MOST - 1], kept[MOST - 1 :])
    cohorts = {which: samples[which] for which in sorted(shown)}
    if small:
        cohorts[REST], sizes[REST] = together(samples[which] for which in small), sum(sizes[which] for which in small)
    tested = survival.logrank(list(cohorts.values()))
    if tested is None:
        return empty | {"sentence": f"Not enough data to compare {name} by {by}: no two were watched at one age."}
    rows = [_cohort(which, sizes[which], cohorts) for which in cohorts]
    return {"by": by, **dict(zip(NUMBERS, (*tested, None), strict=True)), "rows": rows, "sentence": name}


def _cohort(which: str, size: int, cohorts: Mapping[str, Sample]) -> dict[str, Any]:
    mine = cohorts[which]
    against = survival.hazard_ratio(mine, together(each for name, each in cohorts.items() if name != which))
    drawn = survival.curve(mine)
    said = f"{which}: {mine.failures:,} of {size:,} failed"
    if against is None:
        said += "; not enough failures to say how often against the others."
    else:
        said += f", {amount(against.value)} times as often as the others at the same age ({within(against, amount)})."
    ratio = (None, None, None) if against is None else (against.value, against.low, against.high)
    keys = ("hazard_ratio", "hazard_ratio_low", "hazard_ratio_high")
    return {
        "name": which, "parts": size, "failures": mine.failures, **dict(zip(keys, ratio, strict=True)),
        "sentence": said, "curve": None if drawn is None else plain(which, drawn, "days"),
    }  # fmt: skip


def _adjust(compared: Sequence[dict[str, Any]]) -> None:
    """Correct for how many comparisons there are (Holm, 1979), and say what comes of each."""
    least, number = 0.0, len(compared)
    for place, each in enumerate(sorted(compared, key=lambda each: each["p"])):
        least = min(1.0, max(least, each["p"] * (number - place)))
        each["p_adjusted"] = least
        differ = (
            "differ by more than chance explains" if least < SURE else "do not differ by more than chance explains"
        )
        said = f"By {each['by']}, {each['sentence']} {differ} (log-rank p = {amount(least)}"
        each["sentence"] = f"{said}, corrected for {number} comparisons)." if number > 1 else f"{said})."


def _sample(lives: Iterable[Life]) -> Sample:
    return survival.sample((life.entry, life.exit, bool(life.code)) for life in lives)


def together(samples: Iterable[Sample]) -> Sample:
    """Make one sample of several."""
    columns = zip(*((each.entry, each.exit, each.failed, each.weight) for each in samples), strict=True)
    entry, leave, failed, weight = (np.concatenate(column) for column in columns)
    return Sample(entry, leave, failed, weight)


def plain(name: str, drawn: Curve, unit: str) -> dict[str, Any]:
    """Return a curve as JSON, with at most so many points as a picture can show."""
    kept = np.unique(np.linspace(0, len(drawn.ages) - 1, POINTS).astype(int))
    columns = {f"ages_{unit}": drawn.ages, "share": drawn.share, "low": drawn.low, "high": drawn.high}
    return {"name": name} | {key: [round(float(each), 5) for each in column[kept]] for key, column in columns.items()}


def within(between: Between, say: Callable[[float], str]) -> str:
    """Say an interval."""
    low = "0" if between.low is None else say(between.low)
    return f"{low} to {'no end' if between.high is None else say(between.high)}"

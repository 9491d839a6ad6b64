"""The policy of a fleet, read from plain data: everything that is wrong with it is told at once."""

import re
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import TypeVar

from fleet_runner.core.base import fields
from fleet_runner.core.base.fields import NEAR, Path, Problem, Section, Unfit
from fleet_runner.core.budgets.circuit_breaker_limits import Limits
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.rules.built_in import BUILT_IN, DAY
from fleet_runner.core.faults.rules.rule import SAID, Rule
from fleet_runner.core.faults.rules.rules import CAPS, LADDER, AtDeadline, Cap, Rules

T = TypeVar("T")

REMEDIES = tuple(remedy for remedy in Remedy if remedy not in {Remedy.RECABLE, Remedy.REFLASH})
"""What a rule may ask for. Cables and firmware follow from the design and from pins, not from a fault alone."""

OF_SIGNALS = ("alert.*", "redfish.*", "fabric.*")
"""Codes that only signals have, beside those of checks; people, and tools of theirs, may make up others."""

LONGEST = 366 * DAY
"""Seconds of the longest span that means anything here."""

MOST = 1000
"""How often something may have to happen, or be tried."""

ALIKE = 0.8
"""How alike (difflib's ratio) a code is to a known one before it is taken for a slip of the pen."""

_UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": DAY}
_SPAN = re.compile(r"([0-9]{1,8}) ?(s|min|h|d)")


class PolicyError(Exception):
    """A policy is unusable. `problems` are all of its wrong fields."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("; ".join(map(told, problems)))
        self.problems = problems


def told(problem: Problem) -> str:
    """Return a problem as a sentence, with where it is: rules[3].remedy."""
    where = fields.named(problem.path, "")
    return f"{where or 'the policy'}: found {problem.found}, expected {problem.expected}"


def read(raw: object, where: Callable[[Path], str]) -> Rules:
    """Return the rules of a fleet: the built-in ones, then those of its policy.

    `where` says where something stands ("policy.yml:12"), by its path; each rule keeps it as its source.

    Raises:
        PolicyError: with everything that is wrong.
    """
    problems: list[Problem] = []
    policy = Section({} if raw is None else raw, (), problems)
    rules = Rules(
        rules=(*BUILT_IN, *_rules(policy, where)),
        observe=policy.take("observe", fields.flag, otherwise=False),
        ladder=_ladder(policy),
        caps=_caps(policy.below("caps")),
        memory=policy.take("memory", span(1.0), 7 * DAY),
        deadline=policy.take("deadline", span(0.0), None),
        at_deadline=policy.take("at_deadline", fields.one_of(AtDeadline), AtDeadline.ASK),
        budget=_budget(policy.below("budget")),
        breaker=_breaker(policy.below("breaker")),
    )
    policy.strangers()
    if problems:
        raise PolicyError(tuple(problems))
    return rules


def _rules(policy: Section, where: Callable[[Path], str]) -> list[Rule]:
    nothing: list[object] = []
    rows = policy.take("rules", fields.rows, nothing)
    return [
        _rule(Section(row, ("rules", index), policy.problems), where(("rules", index)))
        for index, row in enumerate(rows)
    ]


def _rule(row: Section, source: str) -> Rule:
    rule = Rule(
        codes=row.take("code", _several(code), (), needed=True),
        device_types=row.take("device_types", _several(glob_of), ()),
        remedy=row.take("remedy", remedy(REMEDIES), None),
        at_once=row.take("at_once", fields.flag, None),
        repeats=row.take("repeats", fields.whole(1, MOST), None),
        within=row.take("within", span(1.0), None),
        beside=row.take("beside", _several(code, least=0), None),
        hold=row.take("hold", span(0.0), None),
        quiet=row.take("quiet", span(1.0), None),
        source=source,
    )
    row.strangers()
    if row.sound and not any(name in row.rows for name in SAID):
        row.problems.append(Problem(row.path, "an empty rule", f"one of {', '.join(SAID)} in it"))
    return rule


def _ladder(policy: Section) -> tuple[Remedy, ...]:
    """Read the remedies in use, in the order of their hardness, which nobody can change."""
    rungs = policy.several("ladder", remedy(LADDER)) or LADDER
    mild_to_hard = tuple(each for each in LADDER if each in rungs)
    if rungs != mild_to_hard and len(rungs) == len(mild_to_hard):  # one that stands twice is told already
        policy.wrong("ladder", ", ".join(rungs), f"mild to hard: {', '.join(mild_to_hard)}")
    return mild_to_hard


def _caps(section: Section | None) -> Mapping[Remedy, Cap]:
    if section is None:
        return CAPS
    found = dict(CAPS)
    for each in LADDER:
        row = section.below(each)
        if row is not None:
            most = row.take("most", fields.whole(0, MOST), CAPS[each].most, needed=True)
            found[each] = Cap(most, row.take("within", span(1.0), CAPS[each].within))
            row.strangers()
    section.strangers()
    return found


def _budget(section: Section | None) -> Mapping[str, float]:
    """Read the limits of the disruption budget that the policy names."""
    if section is None:
        return {}
    forms = {"share": share, "rack": fields.whole(1, MOST), "nvlink": fields.whole(1, MOST), "domain": share,
             "tenant": share, "small": fields.whole(0, MOST)}  # fmt: skip
    found: dict[str, float | None] = {name: section.take(name, form, None) for name, form in forms.items()}
    section.strangers()
    return {name: value for name, value in found.items() if value is not None}


def _breaker(section: Section | None) -> Limits:
    if section is None:
        return Limits()
    usual = Limits()
    found = Limits(
        share=section.take("share", share, usual.share),
        same=section.take("same", share, usual.same),
        least=section.take("least", fields.whole(1, MOST), usual.least),
        within=section.take("within", span(1.0), usual.within),
        pause=section.take("pause", span(1.0), usual.pause),
        longest=section.take("longest", span(1.0), usual.longest),
    )
    section.strangers()
    return found


def share(value: object) -> float:
    """A share of nodes, above 0 and at most 1."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value <= 1:
        raise Unfit("a share above 0 and at most 1, like 0.1")
    return float(value)


def span(least: float) -> Callable[[object], float]:
    """Return the form of a span of time: seconds as a number, or a text like 90s, 10min, 24h or 7d."""

    def form(value: object) -> float:
        found = _SPAN.fullmatch(value.strip()) if isinstance(value, str) else None
        seconds = float(found[1]) * _UNITS[found[2]] if found else value
        if not isinstance(seconds, int | float) or isinstance(seconds, bool) or not least <= seconds <= LONGEST:
            raise Unfit(f"a span of time from {least:g} s to {LONGEST / DAY:g}d, like 90s, 10min, 24h or 7d")
        return float(seconds)

    return form


def remedy(known: Iterable[Remedy]) -> Callable[[object], Remedy]:
    """Return the form of a remedy, one of some."""
    words = [each.value for each in known]

    def form(value: object) -> Remedy:
        if not isinstance(value, str) or value not in words:
            raise Unfit(f"one of {', '.join(words)}{_near(str(value).upper(), words)}")
        return Remedy(value)

    return form


def code(value: object) -> str:
    """A glob over the codes of faults: of a check, of a signal, or of somebody's own signals.

    One that is nearly called like a known one is a slip of the pen, and would never speak.
    """
    glob = glob_of(value)
    known = _known()
    if any(fnmatchcase(each, glob) or fnmatchcase(glob, each) for each in known):
        return glob
    near = _meant(glob, known)
    if near:
        raise Unfit(f"a code, or a glob over codes, that a check or a signal knows; did you mean {near[0]}?")
    return glob


def strange(given: str, rules: Iterable[Rule] = ()) -> str | None:
    """Return which code was meant by one that no check, no signal of ours and none of these rules knows.

    "" where none is near; None for one that is known.
    """
    known = _known()
    named = [glob for rule in rules for glob in rule.codes if glob.strip("*")]
    if any(fnmatchcase(given, each) for each in (*known, *named)):
        return None
    return next(iter(_meant(given, known)), "")


def _known() -> list[str]:
    return [*OF_SIGNALS, *(each.code for check in CHECKS.values() for each in check.codes)]


def glob_of(value: object) -> str:
    """A glob over names, which have no spaces around them."""
    return fields.text(value).strip()


def _meant(glob: str, known: list[str]) -> list[str]:
    """Return what was meant by a code that is nearly a known one; nothing where it may be somebody's own."""
    families, (mine, _, rest) = {each.partition(".")[0] for each in known}, glob.partition(".")
    if glob.isdecimal():
        return [f"xid.{glob}"]
    if mine.casefold() in families and (mine not in families or not rest):
        return [f"{mine.casefold()}.{rest or '*'}"]
    near = get_close_matches(glob, known, n=1, cutoff=ALIKE)
    if near or mine in families:
        return near
    return [f"{each}.*" for each in get_close_matches(mine, sorted(families), n=1, cutoff=NEAR)]


def _near(found: str, known: list[str]) -> str:
    near = get_close_matches(found, known, n=1, cutoff=NEAR)
    return f"; did you mean {near[0]}?" if near else ""


def _several(form: Callable[[object], T], least: int = 1) -> Callable[[object], tuple[T, ...]]:
    """Return the form of one or several of something."""

    def several(value: object) -> tuple[T, ...]:
        rows = list(value) if isinstance(value, list | tuple) else [value]
        if len(rows) < least:
            raise Unfit("at least one")
        return tuple(form(row) for row in rows)

    return several

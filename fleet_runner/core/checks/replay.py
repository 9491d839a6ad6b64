"""Stored evidence judged again with a changed profile: what another limit would have done.

The store keeps what was read, by its hash, and not how the reading ended, nor the profile and the design of that day.
So each result is first judged with those of today: only one that comes out as it did then is judged again with the
change, and the others are counted.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from fleet_runner.core.base.errors import SettingsError
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.check import Check, also, reads, run, wanted
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.inventory.profile import Profile
from fleet_runner.core.lifecycle.runs import Stored
from fleet_runner.core.lifecycle.spool import Evidence

PROFILE = "fleet_profile"
"""The variable that holds a device type's profile; a change may name it or not."""


class Left(StrEnum):
    """Why a result cannot be judged again."""

    NO_CHECK = "there is no check of that name any more"
    NO_DESIGN = "it rests on the designed cables, and the source of truth cannot be read now"
    DESIGN = "it rests on the designed cables, and with those of today it is not judged as it was then"
    REMEMBERS = "it judges what changed since the look before it, and does not come out as it did then"
    SKIPPED = "nobody asked it then, so nothing was read"
    GONE = "its evidence is not in the store"
    UNREAD = "it was UNKNOWN because of a read, and how that failed is not kept"
    OTHERWISE = "with the profile of today it is not judged as it was then"
    NO_PROFILE = "its device type has no profile now"


@dataclass(frozen=True, slots=True)
class Setting:
    """What a node, or a fabric, is held against today, and with the change; neither knows the run."""

    today: Expected
    changed: Expected


@dataclass(frozen=True, slots=True)
class Again:
    """A result that was judged again: as it is with the profile of today, and as it would be."""

    stored: Stored
    before: Result
    after: Result

    @property
    def differs(self) -> bool:
        """Whether the change changes anything about it."""
        return not _same(self.before, self.after)

    @property
    def words(self) -> str:
        """Return "PASS → FAIL", or that the same verdict has other findings."""
        if self.before.verdict is not self.after.verdict:
            return f"{self.before.verdict} → {self.after.verdict}"
        return f"{self.after.verdict}, other findings"


@dataclass(slots=True)
class ReplayCounts:
    """What came of all results so far; of those that stay as they are, only the number."""

    reproduced: int = 0
    changes: list[Again] = field(default_factory=list[Again])
    left: dict[Left, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    @property
    def seen(self) -> int:
        """Return how many results there were."""
        return self.reproduced + sum(each.total() for each in self.left.values())

    def take(self, check: str, found: "Again | Left") -> None:
        """Count one more, of what was left out by its check."""
        if isinstance(found, Left):
            self.left[found][check] += 1
            return
        self.reproduced += 1
        if found.differs:
            self.changes.append(found)


def again(
    stored: Stored,
    pieces: Mapping[str, Evidence],
    setting: Setting | None,
    before: Stored | None = None,
    told: Mapping[str, float] | None = None,
) -> Again | Left:
    """Judge a stored result again, or say why it cannot be.

    `pieces` is the evidence behind it, by hash; `before` the check's answer before, if it remembers; `told` what its
    play was told besides: when the node had come to its state (`since`), when the run was opened (`opened_at`), and
    from which share of faults on a fabric is not believed (`suspect_share`).
    """
    check = CHECKS.get(stored.result.check)
    if check is None:
        return Left.NO_CHECK
    if setting is None:
        return Left.NO_PROFILE
    why = _unfit(check, stored.result, pieces, setting)
    if why is not None:
        return why
    found = _readings(check, stored, pieces, setting)
    run_data: dict[str, Any] = {"id": stored.run, "now": stored.at, **(told or {})}
    if before is not None:
        run_data["before"] = {check.name: {"at": before.at, "observed": dict(before.result.observed)}}
    then = _judge(check, found, replace(setting.today, run=run_data))
    if not _same(then, stored.result):
        return _otherwise(check, stored.result)
    return Again(stored, then, _judge(check, found, replace(setting.changed, run=run_data)))


def _otherwise(check: Check, result: Result) -> Left:
    if check.remembers:
        return Left.REMEMBERS
    if result.verdict is Verdict.UNKNOWN:
        return Left.UNREAD
    return Left.DESIGN if check.needs_fabric else Left.OTHERWISE


def _unfit(check: Check, result: Result, pieces: Mapping[str, Evidence], setting: Setting) -> Left | None:
    if result.verdict is Verdict.SKIPPED and not result.evidence:
        return Left.SKIPPED if wanted(check, setting.changed.profile) else None
    if check.needs_fabric and not setting.today.fabric:
        return Left.NO_DESIGN
    if result.verdict is Verdict.UNKNOWN and len(result.evidence) < max(1, len(reads(check, setting.today.profile))):
        return Left.UNREAD
    return None if pieces.keys() >= {*result.evidence} else Left.GONE


def overlaid(profile: Profile, change: Profile) -> dict[str, Any]:
    """Return a profile with a change laid over it, key by key; a list is replaced as a whole, null takes away."""
    merged = dict(profile)
    for key, value in change.items():
        below = merged.get(key)
        merged[key] = overlaid(below, value) if isinstance(value, Mapping) and isinstance(below, Mapping) else value
    return merged


def spread(found: object, profiles: Mapping[str, Profile]) -> dict[str, dict[str, Any]]:
    """Return the change for each device type from what a file holds: a part of a profile, for all or by device type.

    Raises:
        SettingsError: it is neither; it says what is wrong and what would be right.
    """
    change = _part(found, "the file")
    if not change:
        raise SettingsError(f"the file holds nothing; expected a part of {PROFILE}, such as limits")
    named = change.keys() & profiles.keys()
    if named:
        strange = sorted(change.keys() - named)
        if strange:
            raise SettingsError(f"{strange[0]} is no device type beside {min(named)}; there are: {_list(profiles)}")
        changes = {kind: _part(change[kind], kind) for kind in change}
    else:
        changes = dict.fromkeys(profiles, change)
    heads = {key for profile in profiles.values() for key in profile} | {
        check.section.partition(".")[0] for check in CHECKS.values()
    }
    for kind, part in changes.items():
        unknown = sorted(part.keys() - heads)
        if unknown:
            raise SettingsError(
                f"{unknown[0]} is in no profile ({kind}), and no check asks for it; expected a part of {PROFILE} "
                f"({_list(heads - {''})}) or one for each device type ({_list(profiles)})"
            )
    return changes


def added(profile: Profile, change: Profile, above: str = "") -> list[str]:
    """Return the keys of a change that the profile does not have: new ones, or slips."""
    found: list[str] = []
    for key, value in change.items():
        name, below = f"{above}{key}", profile.get(key)
        if below is None:
            found.append(name)
        elif isinstance(value, Mapping) and isinstance(below, Mapping):
            found += added(below, value, f"{name}.")
    return found


def _part(found: object, where: str) -> dict[str, Any]:
    within = found[PROFILE] if isinstance(found, Mapping) and set(found) == {PROFILE} else found
    if not isinstance(within, Mapping) or not all(isinstance(key, str) for key in within):
        raise SettingsError(f"{where}: found {within!r:.60}, expected a mapping such as limits: {{...}}")
    return dict(within)


def _list(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def _readings(check: Check, stored: Stored, pieces: Mapping[str, Evidence], setting: Setting) -> dict[str, Reading]:
    """Return the readings as they were, as far as can be told; what left no text brought none.

    The store names a text after the first read that brought it: where names do not fit, their order counts.
    """
    texts = {pieces[digest].read: pieces[digest].text for digest in stored.result.evidence}
    needed = reads(check, setting.today.profile)
    if not texts.keys() >= {*needed} and len(stored.result.evidence) == len(needed):
        texts = {name: pieces[digest].text for name, digest in zip(needed, stored.result.evidence, strict=True)}
    names = [*needed, *(name for name in also(check, setting.today.profile) if name in texts)]
    return {name: Reading(name, ReadEnd.OK, texts.get(name, ""), at=stored.at) for name in names}


def _judge(check: Check, found: Mapping[str, Reading], expected: Expected) -> Result:
    try:
        return run(check, found, expected)
    except Exception as error:  # noqa: BLE001  a judge's error is ours, and one result of many
        return Result(check.name, Verdict.UNKNOWN, f"error in the check: {type(error).__name__}: {error}")


def _same(one: Result, other: Result) -> bool:
    return one.verdict is other.verdict and _faults(one) == _faults(other)


def _faults(result: Result) -> set[tuple[str, str, str]]:
    return {(finding.code, finding.component, finding.remedy.value) for finding in result.findings}

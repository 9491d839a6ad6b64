"""Do the services that the node needs run, and has none failed?"""

from collections.abc import Iterator
from fnmatch import fnmatchcase

from fleet_runner.core.checks.answers import about, conclude, text_of, unless_unread
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import systemctl
from fleet_runner.core.checks.parsers.systemctl import Unit
from fleet_runner.core.checks.shared import counter_growth
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.inventory.profile import Section, section

NAME = "services"

BUSY = frozenset({"activating", "deactivating", "reloading", "refreshing", "maintenance"})
"""States on the way to another one: a later look tells which."""


def judge(readings: Readings, expected: Expected) -> Result:
    """Look for the profile's services by any of their names; then for failed ones, and for ones that start anew."""
    wanted = section(expected.profile, NAME)
    units = systemctl.parse(text_of(readings["units"]))
    needed = wanted.texts("active")
    by_name = {name: unit for unit in units.values() for name in unit.names}
    counts = {name: by_name[name].restarts or 0 for name in needed if name in by_name}
    growth = counter_growth.growth(NAME, counts, readings["units"], expected)
    findings: list[Finding] = []
    unread: list[str] = []
    for name in needed:
        unit = by_name.get(name)
        if unit is None:
            unread.append(f"systemd does not know {name}; is it installed under this name?")
        elif unit.active in BUSY:
            unread.append(f"{name} is {unit.active} ({unit.sub}); check again")
        else:
            findings += _down(name, unit, expected.node)
    most = wanted.whole("restarts_per_day_max") if wanted.has("restarts_per_day_max") else None
    for name, more in growth.grown.items():
        if most is not None and more > most * max(1.0, growth.seconds / counter_growth.DAY):
            findings.append(
                about(expected.node, "service.restarts", name)(
                    message=f"{name} restarted {more} times within {growth.hours}, expected at most {most} a day",
                    remedy=Remedy.WATCH,
                )
            )
    others = [unit for unit in units.values() if unit.names.isdisjoint(needed)]
    findings += _failed(others, wanted, expected.node)
    failed = sorted(unit.name for unit in units.values() if unit.active == "failed")
    observed = {"units": len(units), "failed": failed, "looks": growth.looks}
    passed = f"{len(needed)} services run; of {len(units)} units {len(failed) or 'none'} failed"
    return unless_unread(conclude(NAME, findings, passed, observed), unread)


def _down(name: str, unit: Unit, node: str) -> Iterator[Finding]:
    if unit.active == "active":
        return
    why = unit.load if unit.load != "loaded" else unit.result
    told = f" ({why})" if why and why != "success" else ""
    yield about(node, "service.down", name)(
        message=f"{name} is {unit.active}/{unit.sub}{told}, expected active; see journalctl -u {name}",
        remedy=Remedy.REBOOT,
    )


def _failed(units: list[Unit], wanted: Section, node: str) -> Iterator[Finding]:
    """Many a failed unit matters to nobody: only where the profile says which do not, the others do."""
    ignored = wanted.texts("failed_ignored") if wanted.has("failed_ignored") else None
    for unit in units:
        if unit.active == "failed" and not any(fnmatchcase(unit.name, each) for each in ignored or ()):
            yield about(node, "service.failed", unit.name)(
                message=f"{unit.name} has failed ({unit.result or unit.sub}), expected no service to",
                remedy=Remedy.RECORD if ignored is None else Remedy.WATCH,
            )


CHECK = Check(
    name=NAME,
    question="Do the services that the node needs run, and has none failed?",
    reads=("units",),
    judge=judge,
    remembers=True,
    section=NAME,
    codes=(
        Code("service.down", (Remedy.REBOOT,), "a service of `services.active` does not run"),
        Code(
            "service.failed",
            (Remedy.WATCH, Remedy.RECORD),
            "another service has failed, and is none of `services.failed_ignored`; recorded without such a list",
        ),
        Code(
            "service.restarts",
            (Remedy.WATCH,),
            "a service restarts more often than `services.restarts_per_day_max`",
        ),
    ),
    source="The profile's `services`; Meta's GCM asks systemd likewise, Azure's and gpud's checks look at their own.",
)

"""Which of the transitions that a Jira offers takes an issue where it should be."""

from collections.abc import Iterable, Sequence

from fleet_runner.adapters.trackers.wire import Json, pick

DONE = "done"
RESOLUTIONS = ("done", "fixed", "resolved")
"""Resolutions that say it is in order, in the order in which they are taken; a workflow may demand one."""


def choose(offered: Sequence[Json], wanted: str, *, done: bool) -> Json | None:
    """Return the body that takes the best transition, None where none leads there.

    `wanted` is the name of a transition or of its status; without it, the category of the status decides, first of
    those that demand nothing but a resolution.
    """
    if wanted:
        fit = [each for each in offered if wanted.casefold() in {name.casefold() for name in _names(each)}]
    else:
        fit = [each for each in offered if (_category(each) == DONE) == done]
    fit.sort(key=lambda each: (len(_demanded(each) - {"resolution"}), _category(each) == "indeterminate"))
    return _body(fit[0]) if fit else None


def named(offered: Sequence[Json]) -> str:
    """Return what a Jira offers, for people."""
    return ", ".join(f"{pick(each, 'name')!r} to {pick(each, 'to', 'name')!r}" for each in offered) or "none"


def _names(each: Json) -> Iterable[str]:
    return str(pick(each, "name")), str(pick(each, "to", "name"))


def _category(each: Json) -> str:
    return str(pick(each, "to", "statusCategory", "key"))


def _demanded(each: Json) -> set[str]:
    fields = each.get("fields") or {}
    return {
        name for name, field in fields.items() if field.get("required") and not field.get("hasDefaultValue", False)
    }


def _body(each: Json) -> Json:
    body: Json = {"transition": {"id": str(pick(each, "id"))}}
    if "resolution" in _demanded(each):
        allowed = [str(pick(one, "name")) for one in each["fields"]["resolution"].get("allowedValues") or []]
        best = [name for known in RESOLUTIONS for name in allowed if name.casefold() == known] or allowed
        if best:
            body["fields"] = {"resolution": {"name": best[0]}}
    return body

"""One contradiction in a source of truth, and how many of them are told to a person."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice

from fleet_runner.core.base.errors import SourceError

TOLD = 20
SHOWN_CHARS = 80


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong, and where ("devices.yml:12", or a NetBox object's URL).

    `unknown` is the name that nothing defines and `known` the names there are: the nearest is suggested, but only
    when the problem is printed, since finding it is slow.
    """

    where: str
    text: str
    unknown: str = ""
    known: Collection[str] = ()

    def __str__(self) -> str:
        return f"{self.where}: {self.text}{self._nearest()}"

    def _nearest(self) -> str:
        near = get_close_matches(self.unknown, self.known, n=1) if self.unknown else []
        return f"; did you mean {show(near[0])}?" if near else ""


def show(value: object) -> str:
    """Return a value as a person may see it: on one line, quoted, not endless."""
    text = value if isinstance(value, str) else str(value)
    return repr(text if len(text) <= SHOWN_CHARS else text[:SHOWN_CHARS] + "…")


def refusal(source: str, problems: Iterable[Problem]) -> SourceError:
    """Return the one error that names the problems of a source: the first 20, then how many more there are."""
    rest = iter(problems)
    told = [str(problem) for problem in islice(rest, TOLD)]
    more = sum(1 for _ in rest)
    count = len(told) + more
    lines = [f"{source}: {count} problem{'s' if count > 1 else ''}; nothing was changed", *told]
    if more:
        lines.append(f"... and {more} more")
    return SourceError("\n  ".join(lines))

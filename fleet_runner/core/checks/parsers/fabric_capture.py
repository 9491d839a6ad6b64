"""Whatever somebody captured of an InfiniBand fabric: by ibnetdiscover, iblinkinfo, ibdiagnet or UFM."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers import (
    discovery,
    ibdiagnet,
    ibdiagnet_lst,
    ibdiagnet_net_dump,
    iblinkinfo,
    ibnetdiscover,
    ufm_links,
    ufm_ports,
)
from fleet_runner.core.checks.parsers.discovery import Discovery

FORMS = (
    "the output of ibnetdiscover (plain or -p) or iblinkinfo (plain or -l), an ibdiagnet2.db_csv, .lst or .net_dump, "
    "or UFM's links as JSON or CSV, or its ports as JSON"
)


_FIRST = 65_536
"""Characters at the beginning of a text that tell which form may be read by columns."""

_AT_THE_BEGINNING = (ufm_links.JSON, ufm_links.CSV, ufm_ports.JSON)
"""These begin where the text does; the others may begin in any line."""

Read = tuple[Discovery, str] | None
"""What a text tells by columns, and what it holds beside the rows that were read; None if it is not read so."""


@dataclass(frozen=True, slots=True)
class _Form:
    """How lines of a form begin, and who reads it: `columns` where all rows are spelled as the tool does."""

    name: str
    begins: re.Pattern[str]
    read: Callable[[str], Discovery]
    columns: Callable[[str], Read] = lambda _: None


_FORMS = (
    _Form("ibnetdiscover -p", ibnetdiscover.BY_PORT, lambda text: ibnetdiscover.whole(ibnetdiscover.by_line(text))),
    _Form(
        "ibnetdiscover",
        ibnetdiscover.PLAIN,
        lambda text: ibnetdiscover.whole(ibnetdiscover.by_line(text)),
        lambda text: (found, "") if (found := ibnetdiscover.by_columns(text)) else None,
    ),
    _Form("iblinkinfo", iblinkinfo.BEGINS, lambda text: iblinkinfo.whole(iblinkinfo.parse(text))),
    _Form("ibdiagnet2.db_csv", ibdiagnet.BEGINS, ibdiagnet.parse, ibdiagnet.by_columns),
    _Form("ibdiagnet2.lst", ibdiagnet_lst.BEGINS, lambda text: ibdiagnet_lst.whole(ibdiagnet_lst.parse(text))),
    _Form(
        "ibdiagnet2.net_dump",
        ibdiagnet_net_dump.BEGINS,
        lambda text: ibdiagnet_net_dump.whole(ibdiagnet_net_dump.parse(text)),
    ),
    _Form("UFM's links", ufm_links.JSON, ufm_links.parse),
    _Form("UFM's links", ufm_links.CSV, ufm_links.parse),
    _Form("UFM's ports", ufm_ports.JSON, ufm_ports.parse),
)


def begins(text: str) -> bool:
    """Whether a line begins as in what a tool printed of a fabric; a table of UFM's may be a design as well."""
    after = "\n" + text.removeprefix("\ufeff")
    return any(form.begins.search(after) for form in _FORMS if form.begins not in _AT_THE_BEGINNING)


def read(text: str) -> Discovery:
    """Return a whole capture of any form; EvidenceError says where it is none, what was found and what expected."""
    if len(text) >= discovery.LARGE and (told := _by_columns(text)):
        return told
    if "\r" in text and "\r\r\n" in text:  # copied from one system to another and back
        text = "\n".join(line.rstrip("\r") for line in text.split("\n"))
    after = "\n" + text.removeprefix("\ufeff")
    starts = [(found.start(), form) for form in _FORMS if (found := form.begins.search(after))]
    if not starts:
        raise EvidenceError(_no_capture(text))
    (_, form), *others = sorted(starts, key=lambda begin: begin[0])
    if others:
        at, other = others[0]
        line = after.count("\n", 0, at + 1)
        raise EvidenceError(f"line {line}: found {other.name} after {form.name}; expected one capture in one form")
    return form.read(after[1:])


def _by_columns(text: str) -> Discovery | None:
    """Read a text whose rows are all of one form; None where they may not be.

    No row that was read begins as those of another form do: only the rest of the text is searched for these.
    """
    first = "\n" + text[:_FIRST]
    form = next((each for each in _FORMS if each.begins.search(first)), None)
    read = form.columns(text) if form else None
    if read is None:
        return None
    found, rest = read
    others = [each.begins for each in _FORMS if each is not form]
    mixed = any(begins.search(text if begins in _AT_THE_BEGINNING else "\n" + rest) for begins in others)
    return None if mixed else found


def _no_capture(text: str) -> str:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            return f"line {number}: found {line.strip()[:80]!r}; expected {FORMS}"
    return f"it is empty; expected {FORMS}"

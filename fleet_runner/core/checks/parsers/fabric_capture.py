"""Whatever somebody captured of an InfiniBand fabric: by ibnetdiscover, iblinkinfo, ibdiagnet or UFM."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers import (
    ibdiagnet,
    ibdiagnet_lst,
    ibdiagnet_net_dump,
    iblinkinfo,
    ibnetdiscover,
    ufm_links,
)
from fleet_runner.core.checks.parsers.discovery import Discovery

FORMS = (
    "the output of ibnetdiscover (plain or -p) or iblinkinfo (plain or -l), an ibdiagnet2.db_csv, .lst or .net_dump, "
    "or UFM's links as JSON or CSV"
)


@dataclass(frozen=True, slots=True)
class _Form:
    name: str
    begins: re.Pattern[str]
    read: Callable[[str], Discovery]


_FORMS = (
    _Form("ibnetdiscover -p", ibnetdiscover.BY_PORT, lambda text: ibnetdiscover.whole(ibnetdiscover.parse(text))),
    _Form("ibnetdiscover", ibnetdiscover.PLAIN, lambda text: ibnetdiscover.whole(ibnetdiscover.parse(text))),
    _Form("iblinkinfo", iblinkinfo.BEGINS, lambda text: iblinkinfo.whole(iblinkinfo.parse(text))),
    _Form("ibdiagnet2.db_csv", ibdiagnet.BEGINS, ibdiagnet.parse),
    _Form("ibdiagnet2.lst", ibdiagnet_lst.BEGINS, lambda text: ibdiagnet_lst.whole(ibdiagnet_lst.parse(text))),
    _Form(
        "ibdiagnet2.net_dump",
        ibdiagnet_net_dump.BEGINS,
        lambda text: ibdiagnet_net_dump.whole(ibdiagnet_net_dump.parse(text)),
    ),
    _Form("UFM's links", ufm_links.JSON, ufm_links.parse),
    _Form("UFM's links", ufm_links.CSV, ufm_links.parse),
)


def read(text: str) -> Discovery:
    """Return a whole capture of any form; EvidenceError says where it is none, what was found and what expected."""
    if "\r" in text and "\r\r\n" in text:  # copied from one system to another and back
        text = "\n".join(line.rstrip("\r") for line in text.split("\n"))
    after = "\n" + text.removeprefix("\ufeff")
    begins = [(found.start(), form) for form in _FORMS if (found := form.begins.search(after))]
    if not begins:
        raise EvidenceError(_no_capture(text))
    (_, form), *others = sorted(begins, key=lambda begin: begin[0])
    if others:
        at, other = others[0]
        line = after.count("\n", 0, at + 1)
        raise EvidenceError(f"line {line}: found {other.name} after {form.name}; expected one capture in one form")
    return form.read(after[1:])


def _no_capture(text: str) -> str:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            return f"line {number}: found {line.strip()[:80]!r}; expected {FORMS}"
    return f"it is empty; expected {FORMS}"

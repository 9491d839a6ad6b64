"""The page of a node as somebody sees it: by keyboard alone, in the dark, on a phone."""

import pytest
from playwright.sync_api import Browser

from fleet_runner.core.lifecycle.states import State
from tests.web.hall import Hall
from tests.web.looking import DESKTOP, PHONE, accessible, fits, opened, shot
from tests.web.served import Served
from tests.web.told import told

LOOKS = [(DESKTOP, False, 6), (PHONE, True, 4)]
"""Size, dark, and how many of the pages are looked at so: those that differ most come first."""


@pytest.mark.parametrize(("size", "dark", "most"), LOOKS)
def test_every_page_of_a_node_reads_well(
    site: Served, hall: Hall, browser: Browser, size: tuple[int, int], *, dark: bool, most: int
) -> None:
    failed, held, back = told(hall), hall.in_state(State.PRODUCTION)[0], hall.in_state(State.DEBUG)[0]
    stored = next(each for each in hall.store.latest_results(failed) if each.result.evidence)
    pages = {
        "failed": f"/nodes/{failed}",
        "result": f"/nodes/{failed}/results/{stored.id}",
        "rma": f"/nodes/{hall.in_state(State.TRIAGE)[0]}/requests/rma",
        "held": f"/nodes/{held}",
        "debug": f"/nodes/{back}",
        "evidence": f"/nodes/{failed}/evidence/{stored.result.evidence[0]}",
    }
    look = f"{'phone' if size == PHONE else 'desktop'}-{'dark' if dark else 'light'}"
    with opened(browser, site, size=size, dark=dark) as page:
        for name, path in list(pages.items())[:most]:
            page.goto(f"{site.url}{path}")
            shot(page, f"{name}-{look}")
            accessible(page)
            fits(page)
            aside = "all => all.filter(each => each.scrollWidth > each.clientWidth).length"
            assert page.eval_on_selector_all("#results .wide", aside) == 0, "answers lie beside the screen"

"""The page holds every row, and its tables are tables."""

from fleet_runner.core.boot.progress import AWAITED
from fleet_runner.core.lifecycle.page import page
from fleet_runner.core.lifecycle.states import STAGES, STATES, TRANSITIONS


def test_every_sentence_of_every_table_stands_on_the_page() -> None:
    text = page()
    for place in STATES.values():
        assert place.meaning in text
    for row in TRANSITIONS.values():
        assert f"| `{row.state}` | `{row.event}` | `{row.to}` | {row.sentence} |" in text
    for work in STAGES.values():
        assert work.why in text
    for row in AWAITED.values():
        assert f"| {row.meaning} | " in text
        assert f" | {row.why} | " in text


def test_every_row_has_as_many_cells_as_its_head() -> None:
    """A `|` in a sentence would shift the cells after it."""
    cells: int | None = None
    for line in page().splitlines():
        here = line.count("|") if line.startswith("|") else None
        assert cells is None or here in (None, cells)
        cells = here


def test_a_state_without_stages_shows_neither_deadline_nor_tries() -> None:
    assert "| `onboard` | onboard | A technician inspects, cables and certifies it. |  |  |  |" in page()

"""What others look at: every check that the page names exists, and every check stands somewhere on it."""

from pathlib import Path

from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.coverage import filled, named, strangers

PAGE = """
| theirs | looks at | ours |
| --- | --- | --- |
| `a_b` | one | `xid`, and more |
| `c` | two | *no*: `nothing` |

<!-- beyond -->
| `optics` | old | `optics` |
<!-- end of beyond -->
"""


def test_only_the_third_column_names_checks() -> None:
    assert named(PAGE) == {"xid", "nothing"}
    assert strangers(PAGE, CHECKS) == {"nothing"}


def test_every_other_check_is_listed_with_its_question() -> None:
    text = filled(PAGE, CHECKS)
    assert f"| `optics` | {CHECKS['optics'].question} |" in text
    assert "| `xid` |" not in text
    assert filled(text, CHECKS) == text


def test_the_page_names_no_check_that_does_not_exist_and_leaves_none_out(project: Path) -> None:
    page = (project / "docs" / "checks-coverage.md").read_text(encoding="utf-8")
    assert strangers(page, CHECKS) == frozenset()
    assert {name for name in CHECKS if f"`{name}`" not in page} == set()
    assert len(named(page)) > 40


def test_what_nobody_looks_at_has_its_reason(project: Path) -> None:
    page = (project / "docs" / "checks-coverage.md").read_text(encoding="utf-8")
    assert "| *no* |" not in page
    assert "|  |" not in page

"""The documents that are generated from the code say what the code says."""

import subprocess
import sys
from pathlib import Path

import pytest

from fleet_runner.core import diagram, lifecycle_page


@pytest.mark.parametrize(
    ("name", "expected"), [("lifecycle.md", lifecycle_page.page()), ("lifecycle.svg", diagram.svg())]
)
def test_a_generated_document_is_up_to_date(project: Path, name: str, expected: str) -> None:
    assert (project / "docs" / name).read_text(encoding="utf-8") == expected, "run `make docs` and commit it"


def test_the_generator_agrees(project: Path) -> None:
    """What `make check` runs, run as it runs it."""
    done = subprocess.run(
        [sys.executable, project / "scripts" / "generate-docs", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr

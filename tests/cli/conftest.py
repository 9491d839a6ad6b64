"""Commands in this process: as a person types them, without a new interpreter for each."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from fleet_runner.cli import main


class Said(NamedTuple):
    """How a command ended and what it printed."""

    code: int
    out: str
    err: str

    @property
    def words(self) -> str:
        """Return standard output with its lines run together."""
        return " ".join(self.out.split())


Type = Callable[..., Said]


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Type:
    """Run a command in a folder of its own, on a terminal of 80 columns."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("FLEET_STATE_DIR", str(tmp_path / "state"))

    def run(*words: str) -> Said:
        monkeypatch.setattr("sys.argv", ["fleet-runner", *words])
        code = 0
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
        return Said(code, *capsys.readouterr())

    return run

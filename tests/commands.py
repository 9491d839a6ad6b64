"""A command in this process: as a person types it, without a new interpreter."""

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


def entered(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str) -> Said:
    """Run fleet-runner with these words to its end."""
    monkeypatch.setattr("sys.argv", ["fleet-runner", *words])
    code = 0
    try:
        main()
    except SystemExit as end:
        code = int(end.code or 0)
    return Said(code, *capsys.readouterr())

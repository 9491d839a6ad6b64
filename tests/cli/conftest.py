"""Commands in this process: as a person types them, without a new interpreter for each."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands import Said, entered

Type = Callable[..., Said]


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Type:
    """Run a command in a folder of its own, on a terminal of 80 columns."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("FLEET_STATE_DIR", str(tmp_path / "state"))

    def run(*words: str) -> Said:
        return entered(monkeypatch, capsys, *words)

    return run

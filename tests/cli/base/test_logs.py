"""What commands log: readable, and with nothing in it that is a secret or that moves a terminal."""

import subprocess
import sys

import pytest
import structlog

from fleet_runner.cli.base import logs


def test_an_error_is_logged_without_the_values_of_variables(capsys: pytest.CaptureFixture[str]) -> None:
    """A token is one in many functions that can fail."""
    logs.begin()
    try:
        _fail(str(20 * 21))
    except OSError:
        structlog.get_logger().exception("NetBox was not updated")
    said = capsys.readouterr().err
    assert "NetBox was not updated" in said
    assert "Traceback" in said
    assert "OSError: bad \ufffd[31m" in said
    assert "420" not in said


def _fail(token: str) -> None:
    raise OSError(f"bad {token[:0]}\x1b[31m")


def test_what_others_wrote_moves_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    logs.begin()
    structlog.get_logger().warning("note \x1b]0;x\x07", found="\x1b[31mS-1", count=3)
    said = capsys.readouterr()
    assert said.out == ""
    assert "\x1b" not in said.err
    assert "\x07" not in said.err
    assert "found=\ufffd[31mS-1" in said.err
    assert "count=3" in said.err


def test_structlog_is_configured_by_whoever_imports_it_later() -> None:
    """It is not imported for a command that logs nothing."""
    code = (
        "import sys\n"
        "from fleet_runner.cli.base import logs\n"
        "logs.begin(); logs.begin()\n"
        "from fleet_runner.adapters.logs import log\n"
        "assert 'structlog' not in sys.modules\n"
        "log.warning('the NetBox is away', why='\\x1b[31m')\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert said.stdout == ""
    assert "the NetBox is away" in said.stderr
    assert "\x1b" not in said.stderr

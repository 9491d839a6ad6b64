"""What the Debian package is made from, where nothing is built."""

import tomllib

from fleet_runner.settings import PROJECT_DIR


def test_its_version_is_the_projects() -> None:
    """Debian's changelog and pyproject.toml say it each for their tools."""
    first = (PROJECT_DIR / "debian" / "changelog").read_text().splitlines()[0]
    version = tomllib.loads((PROJECT_DIR / "pyproject.toml").read_text())["project"]["version"]
    assert first.startswith(f"fleet-runner ({version}) ")


def test_every_override_has_its_reason() -> None:
    """A comment stands right above it, or above the one before it."""
    reason = ""
    lines = (PROJECT_DIR / "debian" / "fleet-runner.lintian-overrides").read_text().splitlines()
    assert lines
    for line in lines:
        reason = line if line.startswith("#") or not line else reason
        assert reason.startswith("# ") or not line, line

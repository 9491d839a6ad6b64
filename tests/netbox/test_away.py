"""A NetBox that is away: what this machine read of it last goes on being true, for whoever starts meanwhile."""

from pathlib import Path

import pytest
from structlog.testing import capture_logs

from fleet_runner.adapters import source
from fleet_runner.adapters.netbox import snapshots
from fleet_runner.adapters.source import Reader
from fleet_runner.core.base.errors import SourceError, SourceUnavailableError
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.settings import Settings
from tests.netbox.site import put
from tests.netbox.standin import TOKEN, Standin
from tests.netbox.test_reading import FLEET, QUICK, install
from tests.secret import private

OFTEN = 1000


@pytest.fixture
def site(standin: Standin, monkeypatch: pytest.MonkeyPatch) -> Standin:
    """A NetBox with a small fleet, of which nobody is patient."""
    monkeypatch.setattr(snapshots, "Timeouts", lambda: QUICK)
    put(standin, FLEET)
    install(standin)
    return standin


@pytest.fixture
def settings(site: Standin, tmp_path: Path) -> Settings:
    """Settings that name it."""
    token = tmp_path / "token"
    private(token, TOKEN)
    return Settings(source=site.url, netbox_token_file=token, state_dir=tmp_path / "state")


def refuse(site: Standin) -> None:
    """Have it answer nobody any more."""
    site.fail(".", times=OFTEN, status=503)


def asked(site: Standin, settings: Settings) -> tuple[Fleet, int]:
    """Read what a play reads, and count how often that asked NetBox."""
    before = len(site.exchanges)
    return source.read(settings, as_kept=True), len(site.exchanges) - before


def test_a_play_asks_nobody_for_what_its_runner_knows(site: Standin, settings: Settings) -> None:
    """And asks where nothing is kept yet."""
    first, requests = asked(site, settings)
    assert requests > 1
    site.edit("dcim/devices", 1, serial="NEW")
    second, requests = asked(site, settings)
    assert (second, requests) == (first, 0)
    Reader(settings)()
    third, requests = asked(site, settings)
    assert (third == first, requests) == (False, 0)


def test_who_starts_while_it_is_away_uses_what_was_kept_and_says_so(site: Standin, settings: Settings) -> None:
    """A runner then asks again and again, and has what is new once NetBox is back."""
    known = source.read(settings)
    site.edit("dcim/devices", 1, serial="NEW")
    refuse(site)
    with capture_logs() as said:
        assert source.read(settings) == known
    assert ["is away" in each["event"] for each in said] == [True]
    reader = Reader(settings)
    assert reader() == known
    with pytest.raises(SourceUnavailableError, match="HTTP 503"):
        reader()
    site.faults.clear()
    assert reader() != known


def test_where_nothing_was_kept_it_is_an_error(site: Standin, settings: Settings) -> None:
    """There is no fleet to go on with."""
    refuse(site)
    with pytest.raises(SourceUnavailableError, match="HTTP 503"):
        source.read(settings)


def test_a_token_that_is_refused_is_no_reason_to_go_on(site: Standin, settings: Settings) -> None:
    """Somebody took it back, or put another one there: that is said, and nothing else is used."""
    source.read(settings)
    assert settings.netbox_token_file is not None
    settings.netbox_token_file.write_text("f" * 40)
    with pytest.raises(SourceError, match="does not accept the token") as caught:
        source.read(settings)
    assert not isinstance(caught.value, SourceUnavailableError)
    assert "f" * 40 not in str(caught.value)

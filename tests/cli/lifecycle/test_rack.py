"""`fleet-runner node` of an NVLink domain: a rack that is one machine."""

from dataclasses import replace
from pathlib import Path

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.core.cabling.fabrics import watched
from fleet_runner.settings import load
from tests.adapters.sitefiles.writer import write_site
from tests.cli.conftest import Type
from tests.nvlink_rack import DOMAIN, source


def test_a_domain_shows_its_rack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: Type) -> None:
    """From the top down; what nobody read is not called well. A domain that the source lost shows no rack."""
    fleet = source()
    write_site(fleet, tmp_path / "site")
    monkeypatch.setenv("FLEET_SOURCE", str(tmp_path / "site"))
    with Store.create(load().store_url) as store:
        store.register([each.record for each in watched(fleet)], 1.0)
    said = typed("node", DOMAIN).words
    assert "The rack: whether its trays are one machine is unknown: it was not swept yet;" in said
    assert "18 of 18 compute trays are not known to the store." in said
    assert "U31 a03-switch-9, switch tray: not known" in said
    assert said.index("a03-switch-9") < said.index("a03-switch-1,") < said.index("a03-tray-18")
    devices = {name: replace(each, context={}) for name, each in fleet.devices.items()}
    write_site(replace(fleet, devices=devices), tmp_path / "site")
    assert "The rack:" not in typed("node", DOMAIN).words
    monkeypatch.setenv("FLEET_SOURCE", str(tmp_path / "nowhere"))
    assert "The rack:" not in typed("node", DOMAIN).words

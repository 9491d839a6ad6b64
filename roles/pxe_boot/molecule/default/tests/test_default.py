"""What the role left behind: configurations with the example's nodes, units, and secrets for their readers alone."""

import os
import tomllib
from pathlib import Path

BOOT = Path(os.environ["MOLECULE_EPHEMERAL_DIRECTORY"]) / "boot"
TOKEN = "a-token-of-the-scenario"  # noqa: S105  the scenario's own
OWNER_READS, OWNER_WRITES = 0o400, 0o600


def test_the_token_is_in_two_files_that_their_owners_alone_can_read() -> None:
    """And neither in the hook, which everybody may read, nor in a configuration."""
    holders = {path for path in BOOT.rglob("*") if path.is_file() and TOKEN in path.read_text()}
    assert {path.relative_to(BOOT).as_posix() for path in holders} == {"etc/dhcp.token", "leases/lease.curl"}
    assert {path.stat().st_mode & 0o777 for path in holders} == {OWNER_WRITES}


def test_leases_are_told_where_the_boot_service_listens() -> None:
    """It listens where nodes reach it, and nowhere else on this machine."""
    assert 'url = "http://198.51.100.2:8480/dhcp"\n' in (BOOT / "leases" / "lease.curl").read_text()


def test_kea_leases_and_dnsmasq_beside_it_serves_files_alone() -> None:
    """Two DHCP servers on one machine would each answer."""
    assert '"198.51.100.11"' in (BOOT / "etc" / "kea-dhcp4.conf").read_text()
    beside = (BOOT / "etc" / "dnsmasq.conf").read_text()
    assert "enable-tftp" in beside
    assert "dhcp-" not in beside


def test_kea_may_call_the_hook() -> None:
    """AppArmor would not let it."""
    assert f"  {BOOT}/hooks/tell-lease Ux,\n}}" in (BOOT / "usr.sbin.kea-dhcp4").read_text()
    assert os.access(BOOT / "hooks" / "tell-lease", os.X_OK)


def test_the_boot_service_has_its_settings() -> None:
    """The database's password may be among them."""
    file = BOOT / "etc" / "fleet.toml"
    assert file.stat().st_mode & 0o777 == OWNER_READS
    assert tomllib.loads(file.read_text()) == {
        "source": "https://netbox.example",
        "boot_url": "http://198.51.100.2:8480",
        "state_dir": f"{BOOT}/state",
        "boot_loaders": "/usr/lib/ipxe",
        "boot_dhcp_token": f"{BOOT}/etc/dhcp.token",
    }


def test_files_that_its_settings_name_are_for_its_account_alone() -> None:
    """A folder comes with what is in it."""
    files = [BOOT / "etc" / name for name in ("munge.key", "templates/user-data.yaml.j2")]
    assert {file.read_text() for file in files} == {"a file of the scenario"}
    assert {file.stat().st_mode & 0o777 for file in files} == {OWNER_WRITES}


def test_units_start_what_was_configured() -> None:
    """Each names the scenario's own files."""
    units = {path.name: path.read_text() for path in (BOOT / "units").iterdir()}
    assert set(units) == {
        "fleet-dhcp-alive.service",
        "fleet-dhcp-alive.timer",
        "fleet-dnsmasq.service",
        "fleet-runner-boot.service",
    }
    assert "ExecCondition=/usr/bin/systemctl --quiet is-active kea-dhcp4-server" in units["fleet-dhcp-alive.service"]
    assert f"--conf-file={BOOT}/etc/dnsmasq.conf" in units["fleet-dnsmasq.service"]
    assert f"Environment=FLEET_CONFIG={BOOT}/etc/fleet.toml" in units["fleet-runner-boot.service"]

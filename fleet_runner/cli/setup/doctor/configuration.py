"""The settings, and the files that they name for people's rules: policy, profiles, trackers, notifications."""

import stat
from collections.abc import Iterator

from fleet_runner import settings
from fleet_runner.adapters.files import catalogues, notifications, policy, trackers
from fleet_runner.adapters.plays import profiles
from fleet_runner.cli.setup.doctor.finding import Finding, Site, ok, some, warning, wrong
from fleet_runner.core.base.errors import SettingsError
from fleet_runner.core.inventory.records import nodes

PART = "settings"


def load(into: list[settings.Settings]) -> Iterator[Finding]:
    """Read the settings, and put them into a list, which stays empty where they cannot be used."""
    try:
        file = settings.config_file()
        into.append(found := settings.load())
    except SettingsError as error:
        yield wrong(PART, str(error), "correct it, then fleet-runner doctor again")
        return
    for sentence in settings.strays():
        yield warning(PART, sentence, "correct or unset the variable")
    if file is None:
        todo = "cd to its folder or export FLEET_CONFIG=FILE; there is none yet: fleet-runner init DIR"
        yield warning(PART, "no fleet.toml here, and FLEET_CONFIG is not set: defaults apply", todo)
        return
    if "@" in found.database_url and file.stat().st_mode & stat.S_IROTH:
        yield warning(PART, f"{file} may hold a password, and everybody can read it", f"chmod o-r {file}")
    yield ok(PART, f"{file}: every setting is known")


def inventory(site: Site) -> Iterator[Finding]:
    """Say whether Ansible's inventory is there, and a profile for each device type of the nodes."""
    file = site.settings.inventory_file
    if not file.exists():
        yield wrong("inventory", f"{file} is not there", "correct the setting inventory, or leave it out")
        return
    if site.fleet is None:
        yield ok("inventory", f"{file}; its device types are not known, since the source was not read")
        return
    types = sorted({device.device_type for device in nodes(site.fleet)})
    missing = []
    for each in types:
        try:
            profiles.read(site.settings, each)
        except SettingsError as error:
            missing.append(str(error))
    for sentence in missing[:3]:
        yield wrong("inventory", sentence, "write the file; one of another type beside it is a start")
    if not missing:
        profile = f"with a profile for {some(types)}" if types else "and no node that needs a profile"
        yield ok("inventory", f"{file}, {profile}")


def rules(site: Site) -> Iterator[Finding]:
    """Say whether policy and catalogues can be used."""
    path = site.settings.policy
    slips = [str(each) for each in policy.check(path).slips] if path is not None else []
    if slips:
        yield wrong("policy", some(slips), "correct the file; fleet-runner policy check lists every line")
    else:
        yield ok("policy", str(path) if path is not None else "no file: the built-in rules apply")
    wrongs = catalogues.check_files(site.settings, images=False)
    if wrongs:
        told = some(f"{each.file}:{each.line}: {each.text}" for each in wrongs)
        yield wrong("firmware", told, "correct the file; fleet-runner firmware check lists every line")
    else:
        yield ok("firmware", f"{len(catalogues.files(site.settings))} catalogues: no errors")


def told(site: Site) -> Iterator[Finding]:
    """Say who is told of tickets and of what happens, and whether their secrets can be read."""
    path = trackers.file(site.settings)
    found = trackers.trackers(site.settings)
    if path is None or not found:
        yield ok("trackers", "none: tickets are only here (docs/trackers.md)")
    else:
        for each in found:
            trackers.secret(each, path.parent)
            trackers.authority(each, path.parent)
        yield ok("trackers", f"{path}: {some(each.name for each in found)}")


def notified(site: Site) -> Iterator[Finding]:
    """Say who is notified."""
    path = notifications.file(site.settings)
    if path is None:
        yield ok("notifications", "none: no notifications (docs/notifications.md)")
        return
    channels, slips = notifications.check(path)
    if slips:
        yield wrong("notifications", some(slips), "fleet-runner notifications check")
        return
    for each in channels:
        notifications.secrets(each, path.parent)
    yield ok("notifications", f"{path}: {some(each.name for each in channels) or 'no channel'}")

"""A BMC emulator: a captured Redfish tree that lives, with updates, resets, BIOS settings, and faults by rule.

    from fleet_runner.lab.redfish import Durations, Emulator, BmcBehaviour, images, load

    tree = load(Path("dgx_h100.json.gz"))  # {URI: body}, or a folder of a DMTF mockup; read once, shared by many
    with Emulator(tree, credentials=("admin", "secret"), pace=Durations.quick(), rules=[…], seed=1, on=hear) as bmc:
        images.write(path, {"HostBIOS_0": "2.0"}, size=10_000_000)
        … talk Redfish with bmc.url …
        bmc.versions(), bmc.pending(), bmc.power, bmc.log, bmc.updates()

All emulators of a process live on one thread; 200 of them are cheap. `on` hears each event on that thread before
anything of it can be seen from outside: it may kill a client, but must not talk to an emulator, nor wait for one.

`behind=` takes a `BackingMachine`: one of another making, whose power and boots the BMC then shows and switches.

Events (`event.kind`, `event.at`, `event["detail"]`):
    request         method, uri
    login, logout   user, session, why (of a logout: client, timeout, restart, fault)
    login_refused   user, why: wrong, locked or rule
    upload_begun    uri, bytes: an image is about to be read (bytes is None where the length is not known)
    upload_cut      uri: the client went away in the middle
    upload_done     bytes, sha256: read in whole; nothing is decided yet
    refused         status, message, busy: the update is not taken
    accepted        update, task, components {id: version}, before {id: version}, sha256, bytes, concurrent
    update_begun    update, components, before, sha256, concurrent
    update_done     update, components {id: what was really written}, task
    update_failed   update, why, components, percent
    activated       components, by: none, bmc_reset, host_reset or ac_drain
    bmc_reset       why: own, fault, by hand, or the action
    power           action, was, why: a client, by hand, or own
    job_begun, job_done        task, name: what `schedule` staged, at a start of the host
    host_reset      override: the host starts
    ac_drain        why
    boot_override   uri, boot
    boot_order_set  order: HPE's, by its own names
    media_inserted, media_ejected   uri, image: a virtual medium
    bios_set, bios_applied   attributes
    bios_job                 id
    subscribed, unsubscribed   uri; destination, or why: client, retries, fault
    event_sent, event_refused  number (of the subscription), message, times (in vain)

For SimpleUpdate `accepted` comes before the image is fetched, with no components; `update_begun` has them.

Rules (a list of dicts, or a YAML file of them; checked at once, RulesError says what is wrong):
    - when: {event: update, component: "*BIOS*", nth: 1}   # also: share: 0.2, times: 3, uri: …, method: …
      what: {fail: {at: 40}}
`FAULTS` lists every fault with its events and options; `python -m fleet_runner.lab.redfish --faults` prints them.
"""

from fleet_runner.lab.redfish import images
from fleet_runner.lab.redfish.behind import BackingMachine
from fleet_runner.lab.redfish.emulator import Emulator
from fleet_runner.lab.redfish.events import Event
from fleet_runner.lab.redfish.pace import BmcBehaviour, Durations
from fleet_runner.lab.redfish.rules import FAULTS, Rule, RulesError
from fleet_runner.lab.redfish.trees import Tree, TreeError, load
from fleet_runner.lab.redfish.updates import Update

__all__ = [
    "FAULTS",
    "BackingMachine",
    "BmcBehaviour",
    "Durations",
    "Emulator",
    "Event",
    "Rule",
    "RulesError",
    "Tree",
    "TreeError",
    "Update",
    "images",
    "load",
]

"""What a healthy switch of each network operating system answers of its ports."""

from tests.core.checks.healthy import text_of

Said = dict[str, str]


SAID: dict[str, Said] = {
    "dellemc.enterprise_sonic.sonic": {
        "status": text_of("sonic/interfaces_status.txt"),
        "pfc": text_of("sonic/pfc_priority.txt"),
        "watchdog": text_of("sonic/pfcwd_stats.txt"),
        "fec": text_of("sonic/fec_stats.txt"),
        "wred": text_of("sonic/wredcounters.txt"),
        "flaps": text_of("sonic/interfaces_flap.txt"),
        "modules": text_of("sonic/transceiver_eeprom.txt"),
    },
    "arista.eos.eos": {
        "interfaces": text_of("eos/interfaces.json"),
        "phy": text_of("eos/phy_detail.json"),
        "watchdog": text_of("eos/pfc_watchdog.json"),
    },
    "nvidia.nvue.nvue": {"interfaces": text_of("nvue/interface.json"), "roce": text_of("nvue/qos_roce.json")},
    "junipernetworks.junos.junos": {
        "interfaces": text_of("junos/interfaces.json"),
        "cos": text_of("junos/cos_interface.txt"),
        "profiles": text_of("junos/congestion_notification.txt"),
        "modules": text_of("junos/optics.json"),
    },
    "cisco.nxos.nxos": {
        "interfaces": text_of("nxos/interface.json"),
        "pfc": text_of("nxos/pfc.txt"),
        "watchdog": text_of("nxos/pfc_queue.json"),
        "queues": text_of("nxos/queuing.json"),
        "modules": text_of("nxos/transceiver_details.json"),
    },
    "dellemc.os10.os10": {"interfaces": text_of("os10/interface.xml")},
    "openconfig": {"interfaces": text_of("openconfig/get_interfaces.json")},
}
"""What a healthy switch of each network operating system answers to its commands."""


SONIC, EOS, NVUE, JUNOS, NXOS, OS10, OPENCONFIG = SAID.values()

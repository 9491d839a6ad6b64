"""`nvidia-smi -q -x`, `-L`, `nvlink`, `topo -m` and `--gpu-reset`: what the driver says about the node's GPUs.

The element names and their order follow driver 550 on an HGX H100.
"""

import sys
import time

from fleet_runner.lab import plan
from fleet_runner.lab.tools import gpu_reset, nvlink, smi_topology
from fleet_runner.lab.tools.node import Node

IDLE_CELSIUS = (31, 33, 30, 34, 32, 33, 31, 35)
BUSY_RISE = 27
HOT_CELSIUS = 86
SLOWDOWN_CELSIUS = 87  # T.Limit counts down to here; at 0 the GPU slows itself
REMAP_PENDING, REMAP_FAILED = 63, 64  # Xids of the row remapper
OTHER = 999  # the server that another GPU came from
VOLATILE = {48: 1, 95: 1}
"""Xids that leave an uncorrectable error in this boot's counters."""


def run(node: Node, args: list[str]) -> int:
    """Print the report; exit 6 where no device is left, as the tool does."""
    gpus = [gpu for gpu in range(plan.GPUS) if node.has_gpu(gpu)]
    if not gpus:
        sys.stdout.write("No devices were found\n")
        return 6
    if args[:1] in (["nvlink"], ["topo"]):
        return nvlink.run(node, gpus, args) if args[0] == "nvlink" else smi_topology.run(node, gpus)
    if "--gpu-reset" in args:
        return gpu_reset.run(node, gpus, args)
    if "-L" in args:
        number = node.state["index"]
        lines = (f"GPU {at}: {plan.GPU_MODEL} (UUID: {plan.gpu_uuid(number, gpu)})" for at, gpu in enumerate(gpus))
        sys.stdout.write("\n".join(lines) + "\n")
        return 0
    if "-q" not in args or "-x" not in args:
        sys.stderr.write("nvidia-smi: the lab knows only -q -x, -L, nvlink, topo -m and --gpu-reset\n")
        return 2
    running = node.processes()
    head = (
        '<?xml version="1.0" ?>\n'
        '<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">\n'
        "<nvidia_smi_log>\n"
        f"\t<timestamp>{time.ctime()}</timestamp>\n"
        "\t<driver_version>550.127.05</driver_version>\n"
        "\t<cuda_version>12.4</cuda_version>\n"
        f"\t<attached_gpus>{len(gpus)}</attached_gpus>\n"
    )
    body = "".join(_gpu(node, gpu, running) for gpu in gpus)
    sys.stdout.write(head + body + "</nvidia_smi_log>\n")
    return 0


def celsius(node: Node, gpu: int, *, busy: bool) -> int:
    """Return one GPU's core temperature."""
    if _has(node, "hot_gpu", gpu):
        return HOT_CELSIUS
    return IDLE_CELSIUS[gpu] + (BUSY_RISE if busy else 0)


def _gpu(node: Node, gpu: int, running: list[tuple[str, int]]) -> str:
    number, bus = node.state["index"], plan.GPU_BUSES[gpu]
    busy = bool(running)
    core = celsius(node, gpu, busy=busy)
    xid = node.fault("xid")
    code = xid["code"] if xid is not None and xid["gpu"] == gpu else 0
    code = REMAP_PENDING if _has(node, "row_remap", gpu) else code
    lanes = 8 if _has(node, "narrow_pcie", gpu) else 16
    sram = 6 if _has(node, "sram_errors", gpu) else 0
    watts = 640.2 if busy else 71.4
    used = 77_824 if busy else 0
    hot = core >= HOT_CELSIUS
    return f"""\t<gpu id="00000000:{bus}:00.0">
\t\t<product_name>{plan.GPU_MODEL}</product_name>
\t\t<product_brand>NVIDIA</product_brand>
\t\t<product_architecture>Hopper</product_architecture>
\t\t<display_mode>Enabled</display_mode>
\t\t<display_active>Disabled</display_active>
\t\t<persistence_mode>Enabled</persistence_mode>
\t\t<addressing_mode>HMM</addressing_mode>
\t\t<mig_mode>
\t\t\t<current_mig>Disabled</current_mig>
\t\t\t<pending_mig>Disabled</pending_mig>
\t\t</mig_mode>
\t\t<mig_devices>
\t\t\tNone
\t\t</mig_devices>
\t\t<serial>{plan.gpu_serial(OTHER if _has(node, "other_gpu", gpu) else number, gpu)}</serial>
\t\t<uuid>{plan.gpu_uuid(number, gpu)}</uuid>
\t\t<minor_number>{gpu}</minor_number>
\t\t<vbios_version>96.00.A5.00.01</vbios_version>
\t\t<multigpu_board>No</multigpu_board>
\t\t<board_id>0x{bus.lower()}00</board_id>
\t\t<board_part_number>692-2G520-0200-000</board_part_number>
\t\t<gpu_part_number>2330-885-A1</gpu_part_number>
\t\t<gpu_module_id>{gpu + 1}</gpu_module_id>
\t\t<inforom_version>
\t\t\t<img_version>G520.0200.00.05</img_version>
\t\t\t<oem_object>2.1</oem_object>
\t\t\t<ecc_object>7.16</ecc_object>
\t\t\t<pwr_object>N/A</pwr_object>
\t\t</inforom_version>
\t\t<gsp_firmware_version>550.127.05</gsp_firmware_version>
\t\t<gpu_reset_status>
\t\t\t<reset_required>No</reset_required>
\t\t\t<drain_and_reset_recommended>No</drain_and_reset_recommended>
\t\t</gpu_reset_status>
\t\t<pci>
\t\t\t<pci_bus>{bus}</pci_bus>
\t\t\t<pci_device>00</pci_device>
\t\t\t<pci_domain>0000</pci_domain>
\t\t\t<pci_device_id>233010DE</pci_device_id>
\t\t\t<pci_bus_id>00000000:{bus}:00.0</pci_bus_id>
\t\t\t<pci_sub_system_id>16C110DE</pci_sub_system_id>
\t\t\t<pci_gpu_link_info>
\t\t\t\t<pcie_gen>
\t\t\t\t\t<max_link_gen>5</max_link_gen>
\t\t\t\t\t<current_link_gen>5</current_link_gen>
\t\t\t\t\t<device_current_link_gen>5</device_current_link_gen>
\t\t\t\t\t<max_device_link_gen>5</max_device_link_gen>
\t\t\t\t\t<max_host_link_gen>5</max_host_link_gen>
\t\t\t\t</pcie_gen>
\t\t\t\t<link_widths>
\t\t\t\t\t<max_link_width>16x</max_link_width>
\t\t\t\t\t<current_link_width>{lanes}x</current_link_width>
\t\t\t\t</link_widths>
\t\t\t</pci_gpu_link_info>
\t\t\t<replay_counter>0</replay_counter>
\t\t\t<replay_rollover_counter>0</replay_rollover_counter>
\t\t</pci>
\t\t<fan_speed>N/A</fan_speed>
\t\t<performance_state>P0</performance_state>
\t\t<clocks_event_reasons>
\t\t\t<clocks_event_reason_gpu_idle>{_active(on=not busy)}</clocks_event_reason_gpu_idle>
\t\t\t<clocks_event_reason_sw_power_cap>Not Active</clocks_event_reason_sw_power_cap>
\t\t\t<clocks_event_reason_hw_slowdown>{_active(on=hot)}</clocks_event_reason_hw_slowdown>
\t\t\t<clocks_event_reason_hw_thermal_slowdown>{_active(on=hot)}</clocks_event_reason_hw_thermal_slowdown>
\t\t\t<clocks_event_reason_hw_power_brake_slowdown>Not Active</clocks_event_reason_hw_power_brake_slowdown>
\t\t\t<clocks_event_reason_sw_thermal_slowdown>Not Active</clocks_event_reason_sw_thermal_slowdown>
\t\t</clocks_event_reasons>
\t\t<fb_memory_usage>
\t\t\t<total>81559 MiB</total>
\t\t\t<reserved>551 MiB</reserved>
\t\t\t<used>{used} MiB</used>
\t\t\t<free>{81_008 - used} MiB</free>
\t\t</fb_memory_usage>
\t\t<compute_mode>Default</compute_mode>
\t\t<utilization>
\t\t\t<gpu_util>{99 if busy else 0} %</gpu_util>
\t\t\t<memory_util>{41 if busy else 0} %</memory_util>
\t\t</utilization>
\t\t<ecc_mode>
\t\t\t<current_ecc>Enabled</current_ecc>
\t\t\t<pending_ecc>Enabled</pending_ecc>
\t\t</ecc_mode>
\t\t<ecc_errors>
{_ecc("volatile", VOLATILE.get(code, 0), 0)}{_ecc("aggregate", VOLATILE.get(code, 0), sram)}\t\t</ecc_errors>
\t\t<retired_pages>
\t\t\t<multiple_single_bit_retirement>
\t\t\t\t<retired_count>N/A</retired_count>
\t\t\t\t<retired_pagelist>N/A</retired_pagelist>
\t\t\t</multiple_single_bit_retirement>
\t\t\t<double_bit_retirement>
\t\t\t\t<retired_count>N/A</retired_count>
\t\t\t\t<retired_pagelist>N/A</retired_pagelist>
\t\t\t</double_bit_retirement>
\t\t\t<pending_blacklist>N/A</pending_blacklist>
\t\t\t<pending_retirement>N/A</pending_retirement>
\t\t</retired_pages>
\t\t<remapped_rows>
\t\t\t<remapped_row_corr>0</remapped_row_corr>
\t\t\t<remapped_row_unc>{int(code in (REMAP_PENDING, REMAP_FAILED))}</remapped_row_unc>
\t\t\t<remapped_row_pending>{"Yes" if code == REMAP_PENDING else "No"}</remapped_row_pending>
\t\t\t<remapped_row_failure>{"Yes" if code == REMAP_FAILED else "No"}</remapped_row_failure>
\t\t\t<row_remapper_histogram>
\t\t\t\t<row_remapper_histogram_max>2560 bank(s)</row_remapper_histogram_max>
\t\t\t\t<row_remapper_histogram_high>0 bank(s)</row_remapper_histogram_high>
\t\t\t\t<row_remapper_histogram_partial>0 bank(s)</row_remapper_histogram_partial>
\t\t\t\t<row_remapper_histogram_low>0 bank(s)</row_remapper_histogram_low>
\t\t\t\t<row_remapper_histogram_none>0 bank(s)</row_remapper_histogram_none>
\t\t\t</row_remapper_histogram>
\t\t</remapped_rows>
\t\t<temperature>
\t\t\t<gpu_temp>{core} C</gpu_temp>
\t\t\t<gpu_temp_tlimit>{SLOWDOWN_CELSIUS - core} C</gpu_temp_tlimit>
\t\t\t<gpu_temp_max_tlimit_threshold>-8 C</gpu_temp_max_tlimit_threshold>
\t\t\t<gpu_temp_slow_tlimit_threshold>-2 C</gpu_temp_slow_tlimit_threshold>
\t\t\t<gpu_temp_max_gpu_tlimit_threshold>0 C</gpu_temp_max_gpu_tlimit_threshold>
\t\t\t<gpu_target_temperature>N/A</gpu_target_temperature>
\t\t\t<memory_temp>{core + 9} C</memory_temp>
\t\t\t<gpu_temp_max_mem_tlimit_threshold>0 C</gpu_temp_max_mem_tlimit_threshold>
\t\t</temperature>
\t\t<gpu_power_readings>
\t\t\t<power_state>P0</power_state>
\t\t\t<power_draw>{watts:.2f} W</power_draw>
\t\t\t<current_power_limit>700.00 W</current_power_limit>
\t\t\t<requested_power_limit>700.00 W</requested_power_limit>
\t\t\t<default_power_limit>700.00 W</default_power_limit>
\t\t\t<min_power_limit>200.00 W</min_power_limit>
\t\t\t<max_power_limit>700.00 W</max_power_limit>
\t\t</gpu_power_readings>
\t\t<clocks>
\t\t\t<graphics_clock>1980 MHz</graphics_clock>
\t\t\t<sm_clock>1980 MHz</sm_clock>
\t\t\t<mem_clock>2619 MHz</mem_clock>
\t\t\t<video_clock>1545 MHz</video_clock>
\t\t</clocks>
\t\t<fabric>
\t\t\t<state>Completed</state>
\t\t\t<status>Success</status>
\t\t\t<cliqueId>0</cliqueId>
\t\t\t<clusterUuid>00000000-0000-0000-0000-000000000000</clusterUuid>
\t\t</fabric>
{_processes(running)}\t\t<accounted_processes>
\t\t</accounted_processes>
\t</gpu>
"""


def _active(*, on: bool) -> str:
    return "Active" if on else "Not Active"


def _has(node: Node, fault: str, gpu: int) -> bool:
    found = node.fault(fault)
    return found is not None and found["gpu"] == gpu


def _ecc(which: str, uncorrectable: int, sram: int) -> str:
    counters = {
        "sram_correctable": 0,
        "sram_uncorrectable_parity": 0,
        "sram_uncorrectable_secded": sram,
        "dram_correctable": 0,
        "dram_uncorrectable": uncorrectable,
    }
    lines = "".join(f"\t\t\t\t<{name}>{value}</{name}>\n" for name, value in counters.items())
    if which == "aggregate":
        lines += "\t\t\t\t<sram_threshold_exceeded>No</sram_threshold_exceeded>\n"
    return f"\t\t\t<{which}>\n{lines}\t\t\t</{which}>\n"


def _processes(running: list[tuple[str, int]]) -> str:
    rows = "".join(
        "\t\t\t<process_info>\n"
        "\t\t\t\t<gpu_instance_id>N/A</gpu_instance_id>\n"
        "\t\t\t\t<compute_instance_id>N/A</compute_instance_id>\n"
        f"\t\t\t\t<pid>{pid}</pid>\n"
        "\t\t\t\t<type>C</type>\n"
        f"\t\t\t\t<process_name>{NAMES.get(kind, kind)}</process_name>\n"
        "\t\t\t\t<used_memory>77816 MiB</used_memory>\n"
        "\t\t\t</process_info>\n"
        for kind, pid in running
    )
    return f"\t\t<processes>\n{rows}\t\t</processes>\n"


NAMES = {"gpu_burn": "./gpu_burn", "tenant_job": "/opt/conda/bin/python3.11"}

"""What a node's own tools tell for a profile: only what is alike within the node, and nothing from a short report."""

import json

import pytest

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.bmc import gpu_facts, host_facts
from tests.core.bmc.store_nodes import texts
from tests.core.checks.catalogue.amd_evidence import GPUS, MODEL, rows
from tests.core.checks.catalogue.amd_evidence import texts as amd
from tests.core.checks.healthy import gpu, text_of


def told(**changed: str) -> dict[str, object]:
    """Return what is told of these reads alone."""
    found, unread = host_facts.told(changed)
    assert unread == []
    return {each.key: each.value for each in found}


def unread(**changed: str) -> str:
    """Return why nothing is told of these reads."""
    found, why = host_facts.told(changed)
    assert found == []
    return " ".join(why)


def test_processors_of_which_some_are_offline_are_not_counted() -> None:
    text = texts()["lscpu"]
    assert told(lscpu=text)["parts.cpu.sockets"] == 2
    rows = json.loads(text)
    rows["lscpu"].append({"field": "Off-line CPU(s) list:", "data": "7-9"})
    assert "CPUs are offline" in unread(lscpu=json.dumps(rows))


def test_several_versions_of_microcode_are_nobodys_rule() -> None:
    paths = [f"/sys/devices/system/cpu/cpu{n}/microcode/version" for n in range(2)]
    assert told(cpu_microcode=json.dumps(dict.fromkeys(paths, "0x1\n"))) == {"parts.cpu.microcodes": ("0x1",)}
    assert told(cpu_microcode=json.dumps({paths[0]: "0x1", paths[1]: "0x2"})) == {}


def test_modules_are_told_where_each_is_described_and_figures_where_they_are_alike() -> None:
    text = texts()["dmidecode"]
    whole = told(dmidecode=text)
    assert whole["parts.dimm.count"] == 2
    assert "to the table's end" in unread(dmidecode=text[: len(text) // 2])
    assert "parts.dimm.gib" not in told(dmidecode=text.replace("Size: 64 GB", "Size: 32 GB", 1))
    slow = told(dmidecode=text.replace("\tSpeed: 4800 MT/s", "\tSpeed: 4400 MT/s"))
    assert "parts.dimm.megatransfers" not in slow
    nameless = text.replace("Part Number: M321R8GA0BB0-CQKZJ", "Part Number: Unknown", 1)
    assert "parts.dimm.models" not in told(dmidecode=nameless)


def test_drives_that_tell_no_size_have_no_least_size() -> None:
    text = texts()["nvme_controllers"]
    assert told(nvme_controllers=text)["parts.nvme.count"] == 2
    files = json.loads(text)
    kept = {
        path: "" if path.endswith(("/model", "/firmware_rev")) else text
        for path, text in files.items()
        if not path.endswith("/size")
    }
    assert told(nvme_controllers=json.dumps(kept)) == {"parts.nvme.count": 2}
    assert told(nvme_controllers="{}") == {}


def test_adapters_are_counted_where_both_lists_agree() -> None:
    found = texts()
    assert told(ibstat=found["ibstat"], ibstat_list=found["ibstat_list"]) == {"parts.hca.count": 2}
    assert "ibstat does not describe" in unread(ibstat=found["ibstat"])
    roce = found["ibstat"].replace("Link layer: InfiniBand", "Link layer: Ethernet")
    assert told(ibstat=roce, ibstat_list=found["ibstat_list"]) == {}


def test_links_of_which_one_is_down_are_no_measure() -> None:
    assert told(nvlink_status=texts()["nvlink_status"])["nvlink.links"] == 4
    assert "an NVLink is down" in unread(nvlink_status=text_of("nvlink/status_dead.txt"))


def test_adapters_beside_gpus_are_told_where_each_gpu_has_its_own() -> None:
    table = text_of("nvidia_smi/topo.txt")
    near = told(nvidia_smi_topology=table)["nic_of_gpu"]
    assert near == {str(number): f"mlx5_{number}" for number in range(8)}
    assert told(nvidia_smi_topology=table.replace("PXB", "SYS").replace("PIX", "SYS")) == {}


def test_the_kernels_settings_are_told_where_it_has_one_value() -> None:
    files = json.loads(texts()["kernel_files"])
    first = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
    assert told(kernel_files=json.dumps(files))["kernel.settings.governor"] == "performance"
    assert "kernel.settings.governor" not in told(kernel_files=json.dumps({**files, first: "powersave"}))
    kinds = {path: "DMA" if path.startswith("/sys/kernel/iommu_groups") else text for path, text in files.items()}
    assert told(kernel_files=json.dumps(kinds))["kernel.iommu"] == ("translating",)
    assert told(kernel_files='{"/proc/sys/kernel/osrelease": "6.8[1]"}') == {
        "kernel.release": ("6.8[[]1]",),
        "kernel.iommu": ("off",),
    }


def test_devices_are_counted_by_kind_and_full_where_each_is() -> None:
    base = "/sys/bus/pci/devices"
    drive = {f"{base}/0000:01:00.0/{name}": value for name, value in {
        "vendor": "0x144d", "device": "0xa824", "class": "0x010802", "current_link_speed": "16.0 GT/s PCIe",
        "current_link_width": "4", "max_link_speed": "32.0 GT/s PCIe", "max_link_width": "4"}.items()}  # fmt: skip
    assert told(pci_devices=json.dumps(drive)) == {
        "pcie_devices.devices.NVMe.classes": ("0108",),
        "pcie_devices.devices.NVMe.count": 1,
    }


def of_gpus(**changed: str) -> dict[str, object]:
    """Return what is told of GPUs from these reads alone."""
    return {each.key: each.value for each in gpu_facts.told(changed)}


def test_gpus_tell_what_all_of_them_have() -> None:
    found = of_gpus(nvidia_smi=gpu.ONE)
    assert (found["pcie.gpu.generation"], found["pcie.gpu.width"]) == (5, 16)
    assert found["gpu_power.limit_watts"] == 700
    assert found["gpu_settings.gsp_firmware"] is True
    assert found["gpu_fabric.cluster"] is False
    assert of_gpus() == {}
    assert of_gpus(nvidia_smi=text_of("nvidia_smi/v100_one.xml"))["parts.gpu.count"] == 1


def test_a_limit_that_somebody_raised_is_not_the_types() -> None:
    raised = gpu.ONE.replace("<current_power_limit>700.00 W", "<current_power_limit>750.00 W")
    assert raised != gpu.ONE
    assert of_gpus(nvidia_smi=raised)["gpu_power.limit_watts"] == 700


def test_a_gpu_at_work_tells_the_link_that_it_has() -> None:
    slow = gpu.ONE.replace("<current_link_gen>5", "<current_link_gen>4")
    assert of_gpus(nvidia_smi=slow)["pcie.gpu.generation"] == 5
    busy = slow.replace("<gpu_util>0 %", "<gpu_util>90 %")
    assert of_gpus(nvidia_smi=busy)["pcie.gpu.generation"] == 4
    silent = of_gpus(nvidia_smi=gpu.ONE.replace("<current_link_width>16x", "<current_link_width>N/A"))
    assert not [key for key in silent if key.startswith("pcie.")]


def test_a_report_that_was_cut_or_lacks_a_gpu_tells_nothing() -> None:
    with pytest.raises(EvidenceError, match="was it cut short"):
        of_gpus(nvidia_smi=gpu.ONE[: gpu.ONE.index("</gpu>") + 10])
    with pytest.raises(EvidenceError, match="a GPU does not answer, or the report was cut"):
        of_gpus(nvidia_smi=gpu.ONE.replace("<product_name>NVIDIA H100 80GB HBM3", "<product_name>GPU is lost"))


def test_gpus_of_amd_are_told_by_their_own_tool() -> None:
    found = of_gpus(**amd(rows()))
    assert found["parts.gpu.count"] == GPUS
    assert (found["parts.gpu.maker"], found["parts.gpu.model"]) == ("AMD", MODEL)
    assert found["gpu_settings.compute_partition"] == ("SPX",)


def test_links_of_amds_gpus_are_told_where_all_are_up() -> None:
    texts_of_amd = {name: text for name, text in amd(rows()).items() if "xgmi" in name}
    assert told(**texts_of_amd) == {"xgmi.links": 7, "xgmi.gbits_per_lane": 32}
    assert told(amd_smi_xgmi=texts_of_amd["amd_smi_xgmi"]) == {"xgmi.links": 7}
    down = rows()
    down["amd_smi_xgmi"][0]["link_status"][1] = "D"
    assert "an xGMI link is down" in unread(amd_smi_xgmi=amd(down)["amd_smi_xgmi"])


def test_a_machine_without_gpus_tells_none() -> None:
    none = '<?xml version="1.0" ?>\n<nvidia_smi_log>\n<attached_gpus>0</attached_gpus>\n</nvidia_smi_log>\n'
    assert of_gpus(nvidia_smi=none) == {}


def test_a_drive_whose_model_alone_is_told_tells_just_that() -> None:
    files = json.loads(texts()["nvme_controllers"])
    kept = {path: text for path, text in files.items() if not path.endswith(("/size", "/firmware_rev"))}
    assert told(nvme_controllers=json.dumps(kept)) == {
        "parts.nvme.count": 2,
        "parts.nvme.models": ("SAMSUNG MZQL23T8HCLS-00A07",),
    }

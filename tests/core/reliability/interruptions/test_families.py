"""From an event's code to the component that interrupted a job."""

import pytest

from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.jobs.event import Area
from fleet_runner.core.reliability.interruptions.families import CODES, LLAMA_3, STORAGE, Family, family


@pytest.mark.parametrize(
    ("area", "code", "component", "meant"),
    [
        (Area.HARDWARE, "xid.79", "GPU 3", Family.GPU),
        (Area.HARDWARE, "xid.48", "GPU 3", Family.GPU_MEMORY),
        (Area.HARDWARE, "xid.4", "GPU 3", Family.GPU),
        (Area.HARDWARE, "amdgpu.lost", "GPU 3", Family.GPU),
        (Area.HARDWARE, "amdgpu.poison", "GPU 3", Family.GPU_MEMORY),
        (Area.HARDWARE, "xid.119", "GPU 3", Family.GSP),
        (Area.HARDWARE, "gpu.sram_errors", "GPU 3", Family.GPU_SRAM),
        (Area.HARDWARE, "gemm.wrong", "GPU 3", Family.GPU_RESULTS),
        (Area.HARDWARE, "gpu.hot", "GPU 3", Family.GPU_HEAT),
        (Area.HARDWARE, "sxid.20009", "NVSwitch 1", Family.NVLINK),
        (Area.HARDWARE, "xid.74", "GPU 3", Family.NVLINK),
        (Area.HARDWARE, "memory.uncorrected", "DIMM A1", Family.HOST_MEMORY),
        (Area.HARDWARE, "cpu.machine_check", "CPU 0", Family.CPU),
        (Area.HARDWARE, "pcie.fatal", "0000:9b:00.0", Family.PCIE),
        (Area.HARDWARE, "psu.faulty", "PSU 2", Family.POWER),
        (Area.HARDWARE, "fan.failed", "fan 2", Family.COOLING),
        (Area.HARDWARE, "job.node_lost", "", Family.NODE),
        (Area.FABRIC, "hca.firmware_failed", "mlx5_0", Family.NIC),
        (Area.FABRIC, "ib.port_down", "port mlx5_0/1", Family.CABLE),
        (Area.FABRIC, "ib.port_down", "Switch leaf-1 port 7", Family.SWITCH),
        (Area.FABRIC, "something.new", "", Family.CABLE),
        (Area.STORAGE, "disk.gone", "nvme0n1", Family.DISK),
        (Area.STORAGE, "fs.missing", "/data", Family.FILE_SYSTEM),
        (Area.STORAGE, "kernel.hung_task", "", Family.FILE_SYSTEM),
        (Area.STORAGE, "ib.port_down", "", Family.FILE_SYSTEM),
        (Area.SOFTWARE, "xid.31", "GPU 3", Family.SOFTWARE),
        (Area.UNKNOWN, "xid.79", "GPU 3", Family.UNKNOWN),
    ],
)
def test_the_area_decides_and_then_the_code(area: Area, code: str, component: str, meant: Family) -> None:
    assert family(area, code, component) is meant


def test_every_code_of_a_check_has_a_component() -> None:
    for check in CHECKS.values():
        for code in check.codes:
            assert family(Area.HARDWARE, code.code, "") not in {Family.SOFTWARE, Family.UNKNOWN}
            assert family(Area.STORAGE, code.code, "") in STORAGE


def test_the_table_names_codes_that_exist() -> None:
    """But for those of jobs, and the Xids, whose codes are a pattern."""
    known = {code.code for check in CHECKS.values() for code in check.codes}
    assert {code for code in CODES if not code.startswith(("job.", "xid."))} <= known


def test_the_published_table_is_whole() -> None:
    """As the paper prints it: 419 in all, and about 78 % of them hardware."""
    assert sum(each.interruptions for each in LLAMA_3) == 419
    other = {"software bug", "dependency", "unplanned maintenance of hosts", "NCCL watchdog timeouts, cause unknown"}
    assert round(100 * sum(each.interruptions for each in LLAMA_3 if each.component not in other) / 419) == 77

"""What people paste of `amd-smi`: reports of JSON of two releases, and as it prints them for people."""

from typing import Any

import pytest

from fleet_runner.core.checks.parsers import amd_text
from fleet_runner.core.checks.pasted.told import Group
from tests.core.checks.catalogue import amd_evidence as amd
from tests.core.checks.pasted.pasting import asking, read

REPORTS = ("amd_smi_static", "amd_smi_metric", "amd_smi_bad_pages")
PAGE = {"page_address": "0x7f1000", "page_size": "4096", "status": "RESERVED"}


def bad() -> dict[str, list[dict[str, Any]]]:
    """Return the reports of a node of which GPU 3 had errors, and GPU 5 has too many bad pages."""
    rows = amd.rows()
    rows["amd_smi_metric"][3]["ecc_blocks"]["GFX"]["uncorrectable_count"] = 2
    rows["amd_smi_bad_pages"][5]["retired"] = [PAGE] * 130
    rows["amd_smi_static"][5]["ras"]["bad_page_threshold_exceeded"] = "N/A"
    return rows


def pasted(rows: dict[str, list[dict[str, Any]]], *names: str, rocm: int = 7) -> str:
    """Return reports in JSON, each behind the command that printed it."""
    texts = amd.texts(rows, rocm=rocm)
    return "\n".join(f"root@mi-01:~# {name.replace('_', ' ')} --json\n{texts[name]}" for name in names or REPORTS)


def printed(value: dict[str, Any], depth: int = 1) -> str:
    """Return a row as the tool prints it for people: capitals, four spaces a level, lists without a mark."""
    lines: list[str] = []
    for key, found in value.items():
        pad = " " * 4 * (0 if key == "gpu" else depth)
        if isinstance(found, dict) and found.keys() == {"value", "unit"}:
            found = f"{found['value']} {found['unit']}"  # noqa: PLW2901  so the tool prints it
        match found:
            case dict():
                lines += [f"{pad}{key.upper()}:", printed(found, depth + 1)]
            case list():
                lines += [f"{pad}{key.upper()}:", *(printed(each, depth + 1) for each in found)]
            case _:
                lines.append(f"{pad}{key.upper()}: {found}")
    return "\n".join(lines)


def plain(rows: dict[str, list[dict[str, Any]]], *names: str) -> str:
    """Return reports as the tool prints them for people."""
    told = ("\n\n".join(printed(row) for row in rows[name]) for name in names or REPORTS)
    return "\n$ amd-smi …\n".join(told)


@pytest.mark.parametrize("rocm", [6, 7])
def test_reports_in_json_are_judged_as_the_nodes_own(rocm: int) -> None:
    found = read(pasted(bad(), rocm=rocm))
    assert asking(found) == {"gpu.ras": "WATCH", "gpu.bad_pages": "TRIAGE"}
    assert found.parts[0].name == "amd-smi of 8 GPUs"
    assert {each.finding.component for each in found.told} == {"GPU 0000:35:00.0", "GPU 0000:55:00.0"}
    assert found.unsure == ()
    assert read(pasted(amd.rows(), rocm=rocm)).told == ()


def test_what_the_tool_prints_for_people_says_the_same() -> None:
    text = plain(bad())
    assert "        UMC:\n            CORRECTABLE_COUNT: 0\n" in text
    assert [each.finding.message for each in read(text).told] == [
        each.finding.message for each in read(pasted(bad())).told
    ]
    healthy = read(plain(amd.rows()))
    assert (healthy.told, healthy.unsure) == ((), ())


def test_pages_of_a_list_and_a_single_one_are_counted() -> None:
    """Of a single page the tool leaves out the list."""
    rows = bad()
    rows["amd_smi_bad_pages"][1]["retired"] = dict(PAGE)
    told = {row["gpu"]: row["retired"] for row in amd_text.rows(plain(rows, "amd_smi_bad_pages"))}
    assert (len(told[5]), told[1]["status"], told[0]) == (130, "RESERVED", "No bad pages found.")


def test_numbers_without_addresses_are_said_to_be_of_some_gpu() -> None:
    rows = bad()
    rows["amd_smi_bad_pages"][1]["retired"] = dict(PAGE)
    found = read(pasted(rows, "amd_smi_metric", "amd_smi_bad_pages"))
    assert found.told == ()
    which = "`amd-smi static` beside it says which GPU that is"
    assert found.unsure == (
        f"GPU 3 of this node counts errors since its driver was loaded, 2 uncorrectable in GFX; {which}",
        f"GPU 1 of this node has retired 1 bad page of memory; {which}",
        f"GPU 5 of this node has retired 130 bad pages of memory; {which}",
    )
    silent = read(pasted(amd.rows(), "amd_smi_metric"))
    assert silent.unsure == (
        "amd-smi on this node: paste `amd-smi static`, too: errors of its GPUs are not told without it",
    )
    alone = read(pasted(bad(), "amd_smi_static", "amd_smi_bad_pages"))
    assert asking(alone) == {"gpu.bad_pages": "TRIAGE"}
    assert "paste `amd-smi metric`, too" in alone.unsure[0]


def test_reports_of_two_nodes_in_one_text_are_not_joined() -> None:
    other = bad()
    other["amd_smi_static"][0]["board"]["product_serial"] = "9"
    found = read(pasted(bad()) + "\n" + pasted(other))
    assert found.told == ()
    assert (
        "GPU 0 is described twice ('board' differs); give static of each node and time as its own file"
        in found.unsure[0]
    )
    assert [each.group for each in read(pasted(bad()) + "\n" + pasted(bad())).told] == [Group.ACTION] * 2


@pytest.mark.parametrize("text", [pasted(bad()), plain(bad())], ids=["json", "plain"])
def test_what_is_cut_says_nothing_that_the_whole_does_not(text: str) -> None:
    whole = {each.finding.code for each in read(text).told}
    for at in range(0, len(text), max(len(text) // 150, 1)):
        assert {each.finding.code for each in read(text[:at]).told} <= whole


def test_a_report_of_json_that_is_cut_is_said_to_be() -> None:
    text = pasted(bad(), "amd_smi_static")
    found = read(text[: len(text) // 2])
    assert found.told == ()
    assert "amd-smi on this node: the JSON that begins in line 2 is cut or damaged" in found.unsure[0]


@pytest.mark.parametrize(
    "text",
    [
        "====== ROCm System Management Interface ======\n",
        "+-----+\n| AMD-SMI 26.0.0 |\n",
        "GPU: 0\n    BDF: 0000:05:00.0\n",
        '{"card0": {"GPU use (%)": "0"}, "system": {"Driver version": "6.8.5"}}\n',
        '[{"gpu": 0, "bdf": "0000:05:00.0"}]\n[[], {"gpu": "x"}, 7]\n',
        "device,Temperature (Sensor junction) (C),GPU use (%)\ncard0,45.0,0\n",
        "gpu,gfx,gfx_clock,hotspot,mem\n0,1,2,3,4\n",
    ],
)
def test_other_reports_of_amds_tools_are_said_not_to_be_read(text: str) -> None:
    found = read(text)
    assert found.told == ()
    assert "errors are read alone" in found.unsure[0]


def test_lines_of_no_report_end_one() -> None:
    deep = "".join(f"{' ' * 4 * (1 + depth)}A{depth}:\n" for depth in range(14))
    (row,) = amd_text.rows(
        f"GPU: 0\n    ECC_BLOCKS:\n        UMC:\n            UNCORRECTABLE_COUNT: 1\n{deep}words\n    ECC: 1\n"
    )
    assert row["ecc_blocks"] == {"umc": {"uncorrectable_count": "1"}}
    assert "ecc" not in row
    for odd in ("GPU: all", "GPU:", "GPU: 0 and 1"):
        assert list(amd_text.rows(f"GPU: 3\n    ECC: 1\n{odd}\n")) == [{"gpu": 3, "ecc": "1"}]
    twice = "GPU: 0\n    PROCESS_INFO:\n        PID: 1\n    PROCESS_INFO:\n        PID: 2\n"
    assert list(amd_text.rows(twice)) == [{"gpu": 0, "process_info": {"pid": "2"}}]

"""fleet-runner check log: somebody's own logs, without a store, settings or a home that can be written to."""

import gzip
import io
import json
import zlib
from pathlib import Path

import pytest

from fleet_runner.cli.base.session import errors
from fleet_runner.cli.checks import log, pasted_files
from tests.cli.conftest import Type
from tests.commands import Said

HUNG = "Nov 28 02:11:04 gpu-03 kernel: NVRM: Xid (PCI:0000:9b:00): 119, pid=917, name=nvidia-smi, Timeout\n"
OWN = "Nov 28 02:11:04 gpu-03 kernel: NVRM: Xid (PCI:0000:9b:00): 13, pid=917, name=python3, Graphics\n"
QUIET = "Nov 28 02:11:04 gpu-03 kernel: [ 1.0] nothing of interest\n"


def written(path: Path, content: bytes | str) -> str:
    """Write a file in the folder that the command runs in, and return its name."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path.name


@pytest.fixture
def bare(typed: Type, monkeypatch: pytest.MonkeyPatch) -> Type:
    """Run it as somebody does who has nothing: a home that cannot be written to, and no settings."""
    monkeypatch.setenv("HOME", "/proc")
    for name in ("FLEET_STATE_DIR", "FLEET_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    return typed


def test_a_log_of_two_nodes_is_told_on_eighty_columns(bare: Type, evidence: Path, tmp_path: Path) -> None:
    said = bare("check", "log", str(evidence / "dmesg" / "two_hosts.log"))
    assert (said.code, said.err) == (1, "")
    assert max(map(len, said.out.splitlines())) <= 80
    assert said.out.splitlines()[:2] == ["gpu-03", "  GPU 0000:9b:00.0  POWER_CYCLE  xid.79"]
    assert "seen 3 times, Nov 28 02:11:04 to Nov 28 03:40:10" in said.out
    assert "fleet-runner: the node loses power and gets it back once it is idle, and is verified" in said.words
    assert "by hand: Remove all power for a minute" in said.words
    assert "Nobody's hardware: the application's own gpu-07, GPU 0000:1b:00.0: Xid 31" in said.words
    assert "Recorded only: nothing follows gpu-07, GPU 0000:cb:00.0: Xid 63" in said.words
    assert "5 of 8 lines matter; kernel log of 2 hosts" in said.words
    assert said.out.endswith("1 finding asks for an action in 8 lines. Nothing was changed or stored.\n")
    assert list(tmp_path.iterdir()) == []


def test_json_has_all_of_it(bare: Type, evidence: Path) -> None:
    said = bare("check", "log", "--json", str(evidence / "dmesg" / "two_hosts.log"))
    told = json.loads(said.out)
    assert said.code == 1
    assert {each["code"]: each["group"] for each in told["found"]} == {
        "xid.79": "action", "xid.31": "application", "xid.63": "recorded",
    }  # fmt: skip
    assert told["read"][0]["forms"] == ["kernel log of 2 hosts"]
    assert told["changed"] is False


@pytest.mark.parametrize(
    ("content", "code", "end"),
    [
        (QUIET, 0, "No action needed in 1 line."),
        (OWN, 0, "No action needed in 1 line."),
        (HUNG + OWN, 1, "1 finding asks for an action in 2 lines."),
        (HUNG + HUNG.replace("9b", "1b"), 1, "2 findings ask for an action in 2 lines."),
        ("", 2, "Nothing could be judged."),
        ("name,serial\n", 2, "Nothing could be judged."),
        ("gpu-07:1:2 [3] NCCL WARN Call to connect returned Connection refused\n", 3,
         "No action needed in 1 line, but some questions stay open."),
    ],
)  # fmt: skip
def test_the_exit_code_says_what_to_do(bare: Type, tmp_path: Path, content: str, code: int, end: str) -> None:
    said = bare("check", "log", written(tmp_path / "a.log", content))
    assert said.code == code
    assert said.words.endswith(f"{end} Nothing was changed or stored.")


@pytest.mark.parametrize(
    "content",
    [
        HUNG.encode("utf-16"),
        HUNG.encode("utf-16-le"),
        HUNG.encode("utf-16-be"),
        HUNG.encode("utf-8-sig"),
        HUNG.replace("\n", "\r\n").encode(),
        b"\xff\xfe\xfa nonsense\n" * 0 + b"\xe9\n" + HUNG.encode(),
        gzip.compress(HUNG.encode()),
        gzip.compress(QUIET.encode()) + gzip.compress(HUNG.encode()) + b"\0\0",
        gzip.compress(HUNG.encode("utf-16")),
        f"$ dmesg\n> \x1b[31m{HUNG}".encode(),
    ],
    ids=["utf-16", "le", "be", "bom", "crlf", "latin", "gzip", "two gzips", "gzip of utf-16", "pasted"],
)
def test_a_file_of_any_encoding_is_read(bare: Type, tmp_path: Path, content: bytes) -> None:
    said = bare("check", "log", written(tmp_path / "a.log", content))
    assert said.code == 1
    assert "xid.119" in said.out


def test_standard_input_is_read(bare: Type, monkeypatch: pytest.MonkeyPatch) -> None:
    given = io.TextIOWrapper(io.BytesIO(HUNG.encode()))
    monkeypatch.setattr("sys.stdin", given)
    said = bare("check", "log", "-")
    assert (said.code, said.err) == (1, "")
    assert "standard input: 1 of 1 line matters" in said.words
    terminal = io.TextIOWrapper(io.BytesIO(HUNG.encode()))
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr("sys.stdin", terminal)
    assert bare("check", "log", "-").err == "paste the log, then press Ctrl-D\n"


def test_of_several_files_each_names_its_node(bare: Type, tmp_path: Path) -> None:
    line = "[ 9.000000] NVRM: Xid (PCI:0000:9b:00): 119, pid=917, name=nvidia-smi, Timeout\n"
    said = bare("check", "log", *(written(tmp_path / f"{name}.log", line) for name in ("gpu-01", "gpu-02")))
    assert said.code == 1
    assert [row for row in said.out.splitlines() if row.startswith("gpu-")] == ["gpu-01", "gpu-02"]


def test_a_file_that_cannot_be_used_does_not_hide_the_others(bare: Type, tmp_path: Path) -> None:
    names = (written(tmp_path / "a.log", QUIET), "gone.log", written(tmp_path / "b.txt", "what?\n"))
    said = bare("check", "log", *names)
    assert said.code == 2
    assert "error: gone.log: No such file or directory; name a file that can be read" in said.err
    assert "error: b.txt: nothing in its 1 line is known. Known are: kernel logs" in said.err
    assert "a.log: 0 of 1 line matter; kernel log of 1 host" in said.words
    assert bare("check", "log", str(tmp_path)).code == 2


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_a_gzip_file_that_is_cut_is_no_good_news(bare: Type, tmp_path: Path, share: float) -> None:
    packed = gzip.compress("".join(QUIET.replace("1.0", f"{n}.5") for n in range(2000)).encode())
    said = bare("check", "log", written(tmp_path / "a.gz", packed[: int(len(packed) * share)]))
    assert said.code in {2, 3}
    assert "cut or damaged" in " ".join((said.out + said.err).split())
    broken = packed[:40] + bytes(60) + packed[100:]
    assert bare("check", "log", written(tmp_path / "b.gz", broken)).code in {2, 3}


def test_a_file_of_another_packer_is_to_be_unpacked_first(bare: Type, tmp_path: Path) -> None:
    said = bare("check", "log", written(tmp_path / "a.xz", b"\xfd7zXZ\0\0\4"))
    assert said.code == 2
    assert said.err == "error: a.xz: it is packed (xz); unpack it first, or pack it with gzip\n"


def test_a_long_log_is_read_in_pieces_and_says_how_far_it_is(
    bare: Type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pasted_files, "PIECE", 64)
    monkeypatch.setattr(pasted_files, "SLOW", 0.0)
    monkeypatch.setattr(pasted_files, "PAUSE", -1.0)
    monkeypatch.setattr(type(errors), "is_terminal", True)
    name = written(tmp_path / "a.log", QUIET * 20 + "x" * 300 + "\n\n" + HUNG)
    said = bare("check", "log", name)
    assert said.code == 1
    assert "a.log: 0 MB read\n" in said.err


def test_many_findings_are_counted_and_json_has_all(
    bare: Type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "MOST", 2)
    name = written(tmp_path / "a.log", "".join(HUNG.replace("9b", f"{n:02x}") for n in range(5)))
    assert "and 3 more; --json has all" in bare("check", "log", name).out


def test_times_of_one_day_are_told_shortly(bare: Type, tmp_path: Path) -> None:
    line = "2025-11-28T02:{}:04,123456+00:00 NVRM: Xid (PCI:0000:9b:00): 119, pid=917, name=a, Timeout\n"
    said = bare("check", "log", written(tmp_path / "a.log", line.format("11") + line.format("51")))
    assert "seen 2 times, 2025-11-28 02:11:04 to 02:51:04 UTC" in said.out


def test_an_event_that_came_again_is_told_with_its_last_time(bare: Type, evidence: Path, tmp_path: Path) -> None:
    sel = (evidence / "ipmitool" / "sel_elist.txt").read_text("utf-8")
    more = "   e | 09/29/2026 | 04:00:00 | Memory DIMM_A3 | Uncorrectable ECC | Asserted\n"
    assert (
        "seen 2 times, last at 2026-09-29 04:00:00" in bare("check", "log", written(tmp_path / "s", sel + more)).out
    )


def test_what_was_dealt_with_since_is_told_apart(bare: Type, tmp_path: Path) -> None:
    boot = "Nov 28 03:00:00 gpu-03 kernel: Linux version 6.8.0\n"
    said = bare("check", "log", written(tmp_path / "a.log", HUNG + boot))
    assert said.code == 0
    assert "Dealt with since gpu-03, GPU 0000:9b:00.0: Xid 119" in said.words
    assert "the node has booted since" in said.words


def test_text_that_would_move_a_terminal_is_marked(bare: Type, tmp_path: Path) -> None:
    evil = HUNG.replace("nvidia-smi", "a\x1b]0;owned\x07b\x9b31m\u202ec")
    said: Said = bare("check", "log", written(tmp_path / "a.log", evil))
    assert said.code == 1
    assert not set("\x1b\x07\x9b\u202e") & set(said.out)


def test_a_gzip_bomb_is_unpacked_piece_by_piece() -> None:
    packer = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    packed = packer.compress(b"\n" * (8 * pasted_files.PIECE)) + packer.flush()
    pieces = list(pasted_files._unpacked(iter([packed])))
    assert max(map(len, pieces)) <= pasted_files.PIECE

"""The end of a play's log, as people read it: bounded, and without secrets, wherever it is cut."""

from pathlib import Path

import pytest

from fleet_runner.adapters.plays import log
from fleet_runner.adapters.plays.log import MOST, tail
from fleet_runner.core.base.redaction import GONE, Scrubber


def written(above: Path, text: str, folder: str = "b-1") -> Path:
    """Write a batch's log."""
    (above / folder).mkdir(parents=True)
    (above / folder / "log").write_text(text, "utf-8")
    return above


def test_a_short_log_is_given_whole(tmp_path: Path) -> None:
    found = tail(written(tmp_path, "TASK [a]\nok: [gpu-1]\n"), "b-1", Scrubber())
    assert found is not None
    assert (found.text, found.left_out) == ("TASK [a]\nok: [gpu-1]\n", 0)


def test_of_a_long_log_whole_lines_of_its_end_are_given(tmp_path: Path) -> None:
    lines = [f"line {number:06}\n" for number in range(30_000)]
    found = tail(written(tmp_path, "".join(lines)), "b-1", Scrubber())
    assert found is not None
    assert len(found.text) <= MOST
    assert found.text.endswith(lines[-1])
    assert found.text.splitlines(keepends=True)[0] in lines
    assert found.left_out + len(found.text) == len("".join(lines))


def test_known_secrets_and_keys_that_begin_before_the_cut_are_taken_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "MOST", 1_000)
    key = "-----BEGIN PRIVATE KEY-----\n" + "QUJD\n" * 150 + "-----END PRIVATE KEY-----\n"
    found = tail(written(tmp_path, "x\n" * 9_000 + key + "then hunter22 and more\n"), "b-1", Scrubber({"hunter22"}))
    assert found is not None
    assert "QUJD" not in found.text
    assert f"then {GONE} and more" in found.text


def test_a_log_that_is_gone_and_a_name_that_is_a_path_are_none(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("not a batch's")
    assert tail(tmp_path, "b-1", Scrubber()) is None
    assert tail(tmp_path / "away", "..", Scrubber()) is None
    assert tail(tmp_path, "*", Scrubber()) is None

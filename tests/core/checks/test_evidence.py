"""Evidence keeps its name, its end and a hash that stands for its text."""

import json
from dataclasses import replace
from hashlib import sha256

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.evidence import Expected, Read, ReadEnd, Reading, ReadKind

READS = st.builds(
    Read,
    name=st.text(min_size=1),
    kind=st.sampled_from(ReadKind),
    argv=st.lists(st.text(), max_size=4).map(tuple),
    path=st.text(),
    seconds=st.floats(0.1, 3600),
    max_bytes=st.integers(1, 10**9),
)


@given(READS)
def test_a_read_is_plain_json_for_the_module_that_carries_it_out(read: Read) -> None:
    raw = json.loads(json.dumps(read.to_json()))
    assert Read(**{**raw, "kind": ReadKind(raw["kind"]), "argv": tuple(raw["argv"])}) == read


@given(st.text(), st.sampled_from(ReadEnd), st.integers(0, 255))
def test_a_reading_is_read_from_what_the_module_returned(text: str, end: ReadEnd, rc: int) -> None:
    raw = {"name": "dmesg", "end": end.value, "text": text, "rc": rc, "error": "why", "at": 5, "seconds": 0.5}
    assert Reading.from_json(raw) == Reading("dmesg", end, text, rc, "why", 5.0, 0.5)


def test_a_reading_needs_no_more_than_its_name_and_its_end() -> None:
    assert Reading.from_json({"name": "dmesg", "end": "timeout"}) == Reading("dmesg", ReadEnd.TIMEOUT)


@given(st.text(), st.text())
def test_equal_hashes_are_equal_texts(one: str, other: str) -> None:
    first, second = Reading("a", ReadEnd.OK, one), Reading("b", ReadEnd.OK, other)
    assert (first.hash == second.hash) == (one == other)


def test_the_hash_is_the_sha256_of_the_text() -> None:
    assert Reading("a", ReadEnd.OK, "é").hash == sha256("é".encode()).hexdigest()


def test_nothing_is_expected_of_a_node_that_nobody_described() -> None:
    expected = Expected("gpu-01")
    assert (dict(expected.profile), dict(expected.device), dict(expected.fabric), dict(expected.run)) == (
        {},
        {},
        {},
        {},
    )


@given(READS)
def test_only_what_reads_a_whole_fabric_is_read_through_an_adapter(read: Read) -> None:
    assert read.through("mlx5_0") == read
    whole = replace(read, by_adapter=True)
    assert whole.through("mlx5_0").argv == (*read.argv, "-C", "mlx5_0", "-P", "1")
    assert whole.through("mlx5_0/2").argv == (*read.argv, "-C", "mlx5_0", "-P", "2")

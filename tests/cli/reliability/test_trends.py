"""fleet-runner trends: what is foreseen, as a person reads it, before the first night and after one."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.cli.base.session import console
from fleet_runner.core.reliability.forecasts import Foresight, Kind
from fleet_runner.settings import Settings, load
from tests.cli.conftest import Type
from tests.reconcile.reliability.test_nightly import METRIC, NOW, SLOT, look, name, small_fleet

HOSTILE = "\x1b[31m\x07<b>[red]"
LOOKS = (
    (), ("lemons",), ("lifetimes",), ("checks",), ("limits",), ("parts",),
    ("lifetimes", "--nodes", "64", "--hours", "72"), ("metric", METRIC), ("metric", METRIC, "--node", name(1)),
    ("metric",), ("show", name(1)), ("parts", "OLD-1"), ("parts", name(1)),
)  # fmt: skip


@pytest.fixture
def store(typed: Type) -> Iterator[Store]:
    """A new store, where commands find it."""
    del typed
    with Store.create(load().store_url) as opened:
        yield opened


@pytest.fixture(scope="module")
def looked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a small fleet in which one GPU warms up and one slot is bad, after a night's look."""
    settings = Settings(state_dir=tmp_path_factory.mktemp("looked"))
    with Store.create(settings.store_url) as store:
        small_fleet(store)
        look(store, settings, NOW)
    return settings.state_dir / "fleet.db"


@pytest.fixture
def night(looked: Path, typed: Type) -> Iterator[Store]:
    """That fleet's store, where commands find it."""
    del typed
    settings = load()
    settings.state_dir.mkdir()
    shutil.copy(looked, settings.state_dir)
    with Store.open(settings.store_url) as opened:
        yield opened


def test_before_the_first_night_it_says_what_to_run(store: Store, typed: Type) -> None:
    for words in ((), ("lemons",), ("lifetimes",), ("checks",), ("limits",), ("parts",)):
        said = typed("trends", *words)
        assert (said.code, said.err) == (0, "")
        assert "no analysis yet" in said.words
        assert "fleet-runner trends run" in said.words
    assert typed("trends", "metric", METRIC).code == 1
    assert json.loads(typed("trends", "--json").out) == {"foresights": [], "analyses": {}}


def test_after_one_it_says_what_is_foreseen(night: Store, typed: Type) -> None:
    said = typed("trends")
    assert (said.code, said.err) == (0, "")
    assert all(each.what.sentence in said.words for each in night.foresights())
    told = json.loads(typed("trends", "--json").out)
    assert {each["what"]["kind"] for each in told["foresights"]} == {"slot", "trend"}
    assert set(told["analyses"]) == {"drift", "heat", "parts", "lemons", "lifetimes", "worth", "limits"}


@pytest.mark.parametrize("words", LOOKS, ids=" ".join)
def test_whatever_is_asked_is_answered(night: Store, typed: Type, words: tuple[str, ...]) -> None:
    said = typed("trends", *words)
    assert (said.code, said.err) == (0, "")
    assert said.out.strip()
    assert max(map(len, said.out.splitlines())) <= 80
    assert json.loads(typed("trends", *words, "--json").out)


def test_a_part_is_drawn_between_its_peers(night: Store, typed: Type) -> None:
    said = typed("trends", "metric", METRIC, "--node", name(1))
    lines = said.out.splitlines()
    assert max(map(len, lines)) <= 80
    assert sum(line.startswith("GPU ") for line in lines) == 8
    assert {"peers, high", "peers, middle", "peers, low"} <= {line[:13].strip() for line in lines}


def test_a_metric_that_no_part_told_lately_says_where_its_numbers_are(night: Store, typed: Type) -> None:
    said = typed("trends", "metric", "gpu_watts")
    assert (said.code, "its drift is not analysed" in said.words, "--node NODE" in said.words) == (1, True, True)
    alone = typed("trends", "metric", "gpu_watts", "--node", name(1))
    assert (alone.code, alone.words) == (1, f"no number of gpu_watts is stored for {name(1)}")


def test_a_lemon_is_named_in_its_line(night: Store, typed: Type) -> None:
    night.keep_analysis("lemons", {"lemons": [{"node": name(1), "sentence": "13 points in 28 days"}]}, NOW, 1.0)
    assert f"- {name(1)}: 13 points in 28 days" in typed("trends", "lemons").words


def test_a_part_is_followed(night: Store, typed: Type) -> None:
    assert f"{SLOT[0]} GPU 2 ({SLOT[1]}): failed with xid.79" in typed("trends", "parts", "OLD-1").words
    unknown = typed("trends", "parts", "NEVER-SEEN")
    assert (unknown.code, "no data on a part or node" in unknown.words) == (1, True)


def test_what_is_wrong_is_said(night: Store, typed: Type) -> None:
    near = typed("trends", "metric", "gpu_celsius")
    assert near.code == 2
    assert "there is no metric 'gpu_celsius'; near it are gpu_" in " ".join(near.err.split())
    assert "fleet-runner trends metric lists all" in " ".join(typed("trends", "metric", "x").err.split())
    assert typed("trends", "show", "gpu-99").code == 2
    assert typed("trends", "lifetimes", "--nodes", "-1", "--hours", "1").code == 2
    assert "takes both --nodes and --hours" in " ".join(typed("trends", "lifetimes", "--nodes", "64").err.split())


def test_what_nodes_say_moves_no_terminal(store: Store, typed: Type) -> None:
    small_fleet(store)
    hostile = Foresight(Kind.SHIFT, name(1), f"GPU {HOSTILE}", f"It jumped {HOSTILE}", METRIC)
    store.foresee(frozenset({Kind.SHIFT}), [hostile], NOW)
    store.keep_analysis("lemons", {"sentences": [HOSTILE], "lemons": [{"sentence": HOSTILE}, 7]}, NOW, 1.0)
    store.keep_analysis("lifetimes", {}, NOW, 1.0)  # as another release may have kept it
    assert "not enough data" in typed("trends", "lifetimes", "--nodes", "64", "--hours", "9").words
    for words in ((), ("show", name(1)), ("lemons",)):
        said = typed("trends", *words)
        assert said.code == 0
        assert "\x1b" not in said.out
        assert "\x07" not in said.out
        assert "[red]" in said.out


def test_a_long_sentence_is_wrapped_behind_its_dash(
    store: Store, typed: Type, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentence = "many words that no line of forty columns holds, and x" + 60 * "y"
    store.keep_analysis("lemons", {"sentences": [], "lemons": [{"sentence": sentence}]}, NOW, 1.0)
    monkeypatch.setattr(console, "_width", 40)  # COLUMNS counts once: when whichever test came first imported this
    first, second, *rest = typed("trends", "lemons").out.splitlines()
    assert (first, second) == ("- many words that no line of forty", "  columns holds, and")
    assert all(len(line) <= 40 for line in rest)
    assert json.loads(typed("trends", "lemons", "--json").out)["body"]["lemons"][0]["sentence"] == sentence


def test_to_look_now_is_to_have_the_schedule_fire(store: Store, typed: Type) -> None:
    """The source of truth is away here: that is said, and everything else is done."""
    said = typed("trends", "run")
    assert said.code == 0
    assert "0 results read" in said.words
    assert "racks, sites and models of parts are left out" in said.words
    assert store.analysis("drift") is not None

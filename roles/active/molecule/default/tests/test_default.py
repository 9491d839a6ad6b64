"""What the role left behind: two tests that ran once on the node, one by one, and were judged at their end."""

from testinfra.host import Host

from tests.scenario import found


def test_a_test_that_runs_is_no_news_and_one_that_ended_is_judged() -> None:
    """The second run started nothing: it found both ended."""
    first, second = found.results()["gpu_burn"]
    assert (first.verdict, first.observed["working"]) == (found.UNKNOWN, True)
    assert second.verdict is found.PASS
    assert found.results()["dcgm"][1].verdict is found.PASS


def test_each_test_was_started_once() -> None:
    """With the words that the profile makes of it."""
    calls = [call for call in found.asked() if not call.startswith("nvidia-smi")]
    assert [call.split()[0] for call in calls] == ["dcgmi", "gpu_burn"]
    assert calls[1] == "gpu_burn -tc 1"


def test_what_they_printed_lies_on_the_node(host: Host) -> None:
    """Until its next boot."""
    assert host.file(str(found.FOLDER / "jobs")).is_directory
    outputs = sorted((found.FOLDER / "jobs").rglob("output"))
    assert ["GPU 0: OK" in path.read_text() for path in outputs] == [False, True]

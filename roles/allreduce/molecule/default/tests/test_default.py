"""What the role left behind: one part of a group's sum, done once, and judged at its end."""

from testinfra.host import Host

from tests.scenario import found


def test_the_node_judged_what_it_got_once_it_had_ended() -> None:
    """In the first run already: it waits for the group."""
    assert found.verdicts() == {"allreduce": found.PASS}


def test_its_part_was_begun_once_with_what_the_group_agreed_on(host: Host) -> None:
    """The second run found it done."""
    (call,) = found.asked()
    words = call.split()
    program = found.PROJECT / "roles" / "active" / "files" / "allreduce.py"
    assert host.file(words[1]).content_string == program.read_text()
    assert {"--nodes=3", "--node=0", "--address=198.51.100.11", "--local=8"} <= set(words)

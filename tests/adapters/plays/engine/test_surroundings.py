"""With which environment a fork may be made."""

from fleet_runner.adapters.plays.fork_server.environment import Surroundings, digest, shared, why_not

BEGUN = {"PATH": "/bin", "LANG": "C", "FLEET_BATCH": "none"}
EXPECTED = Surroundings({"PATH": "/bin", "ANSIBLE_CONFIG": "a.cfg"}, digest(BEGUN))


def test_what_is_a_batchs_own_makes_no_difference() -> None:
    assert shared(BEGUN) == {"PATH": "/bin", "LANG": "C"}
    assert why_not(BEGUN | {"FLEET_BATCH": "b1"}, EXPECTED, is_supervisor=True) == ""
    play = dict(EXPECTED.play) | {"FLEET_BATCH": "b1"}
    assert why_not(play, EXPECTED, is_supervisor=False) == ""


def test_a_supervisor_has_all_the_variables_of_who_began_the_parent_and_no_others() -> None:
    for odd in (BEGUN | {"PYTHONPATH": "/x"}, BEGUN | {"LANG": "de"}, {"PATH": "/bin"}, dict(EXPECTED.play)):
        assert "another" in why_not(odd, EXPECTED, is_supervisor=True)


def test_a_play_is_told_which_of_its_variables_are_others() -> None:
    odd = {"PATH": "/sbin", "ANSIBLE_TIMEOUT": "7"}
    why = why_not(odd, EXPECTED, is_supervisor=False)
    assert "another ANSIBLE_CONFIG, ANSIBLE_TIMEOUT, PATH than" in why


def test_a_digest_takes_bytes_that_are_no_text() -> None:
    assert digest({"A": "\udcff"}) != digest({"A": "\udcfe"})

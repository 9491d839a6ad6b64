"""Pages' scripts share one scope: a name that two of them declare stops the second one."""

import re
from collections import Counter
from importlib.resources import files

DECLARED = re.compile(r"^(?:async )?(?:function|const|let|class) +(\w+)", re.MULTILINE)


def test_no_two_scripts_declare_the_same_name() -> None:
    every = Counter[str]()
    for file in files("fleet_runner.web").joinpath("static").iterdir():
        if file.name.endswith(".js") and file.name != "worker.js":  # which runs beside pages
            every.update(DECLARED.findall(file.read_text(encoding="utf-8")))
    assert every["PATIENCE"] == 1
    assert [name for name, times in every.items() if times > 1] == []

"""Times of ranks in a job's output: Megatron's timers and straggler lines, NVRx's reports, DeepSpeed's and others'.

The forms are those of Megatron-LM (`--timing-log-option`, `--log-straggler`), NVIDIA's resiliency extension (NeMo,
Lightning), DeepSpeed (`wall_clock_breakdown`), torchtitan, tqdm, and lines such as "data_time: 0.12 s" behind a
launcher's prefix with the rank or the node.
"""

import re

from fleet_runner.core.jobs.lines import Line, read
from fleet_runner.core.jobs.rank_times import Extreme, Measure, Moment, RankTimes, Whose

_NUMBER = r"\d{1,9}(?:,\d{3}){0,3}(?:\.\d{1,9})?"

_NAMED = re.compile(
    r"(?<![\w-])(?:(?P<own>(?:forward|fwd)(?:[-_ ](?:compute|microstep|pass|time|ms)){0,2}"
    r"|(?:backward|bwd)_inner(?:_microstep)?|compute[-_ ]time(?:_ms)?|batch-generator"
    r"|data(?:loader|loading)?[-_ ](?:time|wait|load(?:ing)?)(?:_ms)?"
    r"|(?:time )?before[-_ ](?:the )?barrier(?:[-_ ]time)?(?:_ms)?)"
    r"|(?P<step>elapsed time per iteration|(?:train_)?step[-_ ](?:time|timing)(?:_ms)?"
    r"|iter(?:ation)?[-_ ]time(?:_ms)?"
    r"|batch_time|time per (?:step|iteration))|(?P<rate>tps|tokens/s(?:ec)?)(?=:))"
    r"(?: ?\((?P<unit>ms|s)\)| in (?P<within>m?s))? {0,2}[:=] {0,4}(?P<value>"
    + _NUMBER
    + r") ?(?P<after>ms|s|sec)?\b"
    r"|(?P<bar>" + _NUMBER + r")(?P<per>s/it|it/s)\b",
    re.ASCII,
)
"""Of a line in small letters."""
_RANK = re.compile(r"(?<![\w.])rank[ =:]{1,2}(\d{1,6})\b", re.ASCII | re.IGNORECASE)
_STAGES = re.compile(r"pipeline[-_]model[-_]parallel[-_ ]size(?:: | \.{3,80} )(\d{1,4})\b", re.ASCII)

_ALL = re.compile(r"(?<!\) )(?<!max )times? across ranks \(ms\):$", re.ASCII)
_SPREAD = re.compile(r"\(min, max\) time across ranks \(ms\):$", re.ASCII)
_TIMER = re.compile(r" {0,8}([a-z][a-z/-]{2,60}):$", re.ASCII)
_OF_RANK = re.compile(r" {0,12}rank {1,6}(\d{1,6}): (" + _NUMBER + r")$", re.ASCII)
_OF_TIMER = re.compile(r" {0,8}([a-z][a-z/-]{2,60}) \.{1,60}: \((" + _NUMBER + r"), (" + _NUMBER + r")\)$", re.ASCII)
_EXTREME = re.compile(r"\b(M[nx](?:Rtt|Clk))/Rnk: (\d{1,9}(?:\.\d{1,6})?)(?:ms|MHz)/(\d{1,6})", re.ASCII)
_SCORES = re.compile(r"GPU (relative|individual) performance:$", re.ASCII)
_SCORE = re.compile(
    r" {0,8}Rank=(?P<rank>\d{1,6}) Node=(?P<node>[\w.-]{1,255}) Score=(?P<score>[01]\.\d{1,6})$", re.ASCII
)
_PART = re.compile(r" {0,8}(?:Worst|Best) performing \d{1,6}/\d{1,6} ranks:$", re.ASCII)
_HEADS = ("across ranks", "/Rnk: ", "GPU relative", "GPU individual", "pipeline-model", "pipeline_model")
_HINTS = (
    "forward", "fwd", "_inner", "data", "barrier", "batch-gen", "_tim", "-tim", "step tim", "iter tim",
    "iteration tim", "compute tim", "elapsed time", "time per", "tps:", "tokens/s:", "tokens/sec:", "s/it", "it/s",
)  # fmt: skip
"""Words without which a line has none of the heads, and none of the named times: most lines of a log have neither."""

OWN_TIMERS = frozenset({"forward-compute", "backward-compute", "batch-generator"})
"""Megatron's timers of what a rank does by itself; the others hold its waiting for other ranks as well."""

RTT = Measure("Rtt (traced work of a step)")
SCORED = Measure("GPU time by its NVRx score", "times the fastest")
BAR = Measure("step", is_step=True)
MILLISECONDS = 1e-3


class TimeLines:
    """One output as it is read, in pieces of whole lines; what it tells is added to `times`."""

    def __init__(self, times: RankTimes, year: int, rank: int | None = None, *, label: str = "") -> None:
        """Take where to add it, the year of the job's end, and the rank where one alone wrote the output.

        `label` is what the output is called: its clock may be that of any zone.
        """
        self.found = False
        self._times = times
        self._year = year
        self._rank = rank
        self._label = label
        self._at: float | None = None
        self._block = ""
        self._timer = ""
        self._scores: dict[Whose, float] = {}

    def feed(self, text: str) -> None:
        """Take the next lines."""
        for raw in text.replace("\r", "\n").split("\n"):
            if self._block or any(each in raw for each in _HEADS):
                line = self._read(raw)
                if self._in_block(line.text) or self._head(line.text):
                    continue
            small = raw.lower()
            if any(each in small for each in _HINTS) and _NAMED.search(small):
                self._named(self._read(raw))

    def end(self) -> None:
        """Take what the last lines began."""
        self._end_scores()

    def _read(self, raw: str) -> Line:
        """Return a line; its time is that of those after it which tell none, as the rows of a report."""
        line = read(raw, self._year)
        if line.at is not None and not line.yearless:
            self._at = line.at
        return line

    def _head(self, text: str) -> bool:
        """Take a line that begins a block, or is one by itself."""
        if found := _SCORES.search(text):
            self._block = "scores" if found[1] == "relative" else ""
        elif _SPREAD.search(text):
            self._block = "spread"
        elif _ALL.search(text):
            self._block = "all"
        elif "/Rnk: " in text:
            self._extreme(text)
        elif found := _STAGES.search(text):
            self._times.has_stages = self._times.has_stages or int(found[1]) > 1
        else:
            return False
        return True

    def _in_block(self, text: str) -> bool:
        """Take a line of a block; False where it is none, which ends it."""
        if self._block == "all" and (found := _TIMER.match(text)):
            self._timer = found[1]
        elif self._block == "all" and self._timer and (found := _OF_RANK.match(text)):
            if self._timer in OWN_TIMERS:
                self._add(Measure(self._timer), Whose(int(found[1])), _number(found[2]) * MILLISECONDS)
        elif self._block == "spread" and (found := _OF_TIMER.match(text)):
            if found[1] in OWN_TIMERS:
                shortest, longest = (_number(each) * MILLISECONDS for each in (found[2], found[3]))
                self._times.spreads[Measure(found[1])] = shortest, longest
                self.found = True
        elif self._block == "scores" and (found := _SCORE.match(text)):
            self._scores[Whose(int(found["rank"]), found["node"])] = float(found["score"])
        elif not (self._block == "scores" and _PART.match(text)):
            self._end_scores()
            self._block = self._timer = ""
            return False
        return True

    def _end_scores(self) -> None:
        """Compare the rank with the lowest score with the lowest one of another node."""
        scores, self._scores = self._scores, {}
        if not scores:
            return
        slowest = min(scores, key=lambda whose: scores[whose])
        others = [score for whose, score in scores.items() if whose.node != slowest.node]
        if others and scores[slowest] > 0.0:
            self._times.add_extreme(SCORED, Extreme(slowest, 1 / scores[slowest], 1 / max(min(others), 0.01)))
            self.found = True

    def _extreme(self, text: str) -> None:
        told = {name: (float(value), int(rank)) for name, value, rank in _EXTREME.findall(text)}
        if not {"MnRtt", "MxRtt"} <= told.keys() or told["MnRtt"][0] <= 0.0:
            return
        own, rank = told["MxRtt"]
        clocks = (*told["MnClk"], told["MxClk"][0]) if {"MnClk", "MxClk"} <= told.keys() else None
        fastest = told["MnRtt"][0]
        extreme = Extreme(Whose(rank), own * MILLISECONDS, fastest * MILLISECONDS, clocks)
        self._times.add_extreme(RTT, extreme)
        self.found = True

    def _named(self, line: Line) -> None:
        """Take the named times of a line; those of nobody tell no more than how long a step takes."""
        told = _RANK.search(line.text[:200])
        rank = int(told[1]) if told is not None else line.rank if line.rank is not None else self._rank
        whose = Whose(rank, line.node)
        text = line.text.lower()
        in_milliseconds = "(ms)" in text
        for found in _NAMED.finditer(text):
            if found["bar"] is not None:
                value = _number(found["bar"])
                self._add(BAR, whose, value if found["per"] == "s/it" else 1 / value if value else 0.0)
            elif found["rate"]:
                self._add(Measure(found["rate"], "a second", is_step=True, is_low=True), whose,
                          _number(found["value"]))  # fmt: skip
            else:
                name = found["own"] or found["step"]
                unit = found["unit"] or found["within"] or found["after"] or ""
                is_short = unit == "ms" or (not unit and (in_milliseconds or name.endswith("_ms")))
                value = _number(found["value"]) * (MILLISECONDS if is_short else 1.0)
                self._add(Measure(name, is_step=found["own"] is None), whose, value)

    def _add(self, measure: Measure, whose: Whose, value: float) -> None:
        self.found = self.found or value > 0.0
        self._times.add(measure, whose, value, None if self._at is None else Moment(self._at, self._label))


def _number(told: str) -> float:
    return float(told.replace(",", ""))

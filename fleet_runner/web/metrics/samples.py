"""The samples of one scrape, checked against the table of metrics: none that is not in it."""

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric as Family

from fleet_runner.core.base.printable import printable
from fleet_runner.core.lifecycle.metrics import Spread
from fleet_runner.web.metrics.table import METRICS, Kind, Metric


class ScrapeSamples:
    """The values of one scrape."""

    def __init__(self) -> None:
        self._found: dict[str, dict[tuple[str, ...], float | Spread]] = {}

    def put(self, metric: str, value: float, /, **labels: str) -> None:
        """Say a number; what is said twice with the same labels is added up."""
        mine, key = self._found.setdefault(metric, {}), _key(METRICS[metric], labels)
        before = mine.get(key, 0.0)
        mine[key] = value + before if isinstance(before, float) else value

    def spread(self, metric: str, value: Spread, /, **labels: str) -> None:
        """Say a histogram."""
        self._found.setdefault(metric, {})[_key(METRICS[metric], labels)] = value

    def families(self) -> Iterator[Family]:
        """Return all of it as the client of Prometheus writes it, in the table's order."""
        for name, metric in METRICS.items():
            if name in self._found:
                yield _family(metric, self._found[name])


def _key(metric: Metric, labels: dict[str, str]) -> tuple[str, ...]:
    """Return values in the table's order. `from` is a word of Python's, so it is given as `from_`."""
    given = {name.rstrip("_"): printable(value) for name, value in labels.items()}
    return tuple(given[name] for name in metric.labels)


def _family(metric: Metric, found: dict[tuple[str, ...], float | Spread]) -> Family:
    if metric.kind is Kind.HISTOGRAM:
        spreads = HistogramMetricFamily(metric.name, metric.says, labels=metric.labels)
        for key, each in found.items():
            assert isinstance(each, Spread)  # noqa: S101  the table says so
            buckets = [
                ("+Inf" if bound == float("inf") else str(bound), float(count)) for bound, count in each.up_to()
            ]
            spreads.add_metric(key, buckets, each.total)
        return spreads
    kind = CounterMetricFamily if metric.kind is Kind.COUNTER else GaugeMetricFamily
    family = kind(metric.name, metric.says, labels=metric.labels)
    for key, value in found.items():
        assert not isinstance(value, Spread)  # noqa: S101  as above
        family.add_metric(key, float(value))
    return family

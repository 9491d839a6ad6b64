"""What a Prometheus scrapes at /metrics: counted from the store, the same from every process."""

from fastapi import APIRouter, Request, Response
from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.exposition import choose_encoder

from fleet_runner.services.http.requests import App
from fleet_runner.web.access import Scrapes
from fleet_runner.web.metrics.requests import RequestCounter
from fleet_runner.web.metrics.scrape import Gathering
from fleet_runner.web.site import Site

router = APIRouter()


class Meter:
    """What an application is measured with: a registry of its own."""

    def __init__(self, here: Site) -> None:
        self.asked = RequestCounter(here.steady)
        self.registry = CollectorRegistry()
        self.registry.register(Gathering(here, self.asked))
        ProcessCollector(registry=self.registry)

    def around(self, app: App) -> App:
        """Return an application whose answers are counted."""
        return self.asked.around(app)


@router.get("/metrics")
def scrape(request: Request, who: Scrapes) -> Response:
    """Return every metric, as text or, where that is asked for, as OpenMetrics."""
    del who
    encode, kind = choose_encoder(request.headers.get("accept", ""))
    return Response(encode(request.app.state.meter.registry), media_type=kind)

"""The plugin's own pages: the part of a panel that fleet-runner fills, requests, states, and a rack by state."""

from typing import Any

from dcim.constants import RACK_ELEVATION_DEFAULT_LEGEND_WIDTH, RACK_ELEVATION_DEFAULT_MARGIN_WIDTH
from dcim.models import Device, Rack
from django.contrib import messages
from django.db.models import Count
from django.http import HttpRequest, HttpResponse, HttpResponseForbidden
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.safestring import mark_safe
from django.views.generic import View
from netbox.views import generic
from utilities.views import ConditionalLoginRequiredMixin, ViewTab, register_model_view

from netbox_fleet_runner import nodes, panel
from netbox_fleet_runner.brief import plain
from netbox_fleet_runner.elevation import StateElevation
from netbox_fleet_runner.permissions import may_ask
from netbox_fleet_runner.states import LONGEST_REASON, NODE_ROLES, STATE, STATES, TONES, WISHES, shown, tone
from netbox_fleet_runner.tables import listed

MAY_NOT = "You may not send requests about this device: you need the permission to change it, or 'wish'."


def _seen(request: HttpRequest, pk: int) -> Device:
    """Return a device that the user may view; 404 where there is none, or none that they may."""
    return get_object_or_404(Device.objects.restrict(request.user, "view"), pk=pk)


class DevicePanelView(ConditionalLoginRequiredMixin, View):
    """What fleet-runner says of a node, as the part of its page that a browser asks for by itself."""

    def get(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Ask fleet-runner, for its time limit at most, and show what it says."""
        device = _seen(request, pk)
        more = panel.asked(request.user, device)
        return render(request, "netbox_fleet_runner/panel_body.html", {**more, "device": device, "object": device})


class WishView(ConditionalLoginRequiredMixin, View):
    """A request of somebody, put into the device's custom fields, from where fleet-runner takes it."""

    def post(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Check who asks; ask once more where something is lost by it; then leave the request."""
        device = _seen(request, pk)
        if not may_ask(request.user, device):
            return HttpResponseForbidden(MAY_NOT)
        kind, reason = request.POST.get("kind", ""), plain(request.POST.get("reason", ""))[:LONGEST_REASON]
        wish = WISHES.get(kind)
        if wish is not None and wish.sure and request.POST.get("sure") != "yes":
            told = {"object": device, "kind": kind, "wish": wish, "reason": reason}
            return render(request, "netbox_fleet_runner/sure.html", told)
        try:
            nodes.ask(device.pk, kind, reason)
        except nodes.WishError as error:
            messages.error(request, str(error))
        else:
            messages.success(request, f"{WISHES[kind].label}: requested. fleet-runner answers in the journal.")
        return redirect(device.get_absolute_url())


class StatesView(ConditionalLoginRequiredMixin, View):
    """How many nodes are in each state, each with the way to them in the device list."""

    def get(self, request: HttpRequest) -> HttpResponse:
        """Count what the user may view."""
        found = Device.objects.restrict(request.user, "view").filter(role__slug__in=NODE_ROLES)
        counts = dict(found.order_by().values_list(f"custom_field_data__{STATE}").annotate(count=Count("pk")))
        known = [(state, counts.get(state, 0)) for state in STATES]
        rows = [(shown(state), tone(state), count, listed(state)) for state, count in known if count]
        rest = sum(count for state, count in counts.items() if state not in STATES)
        return render(request, "netbox_fleet_runner/states.html", {"rows": rows, "rest": rest, "empty": not counts})


def _has_nodes(rack: Rack) -> bool:
    return bool(rack.devices.filter(role__slug__in=NODE_ROLES).exists())


class RackStatesView(generic.ObjectView):
    """A rack's elevations, coloured by the states of its nodes, as a tab of the rack."""

    queryset = Rack.objects.all()
    template_name = "netbox_fleet_runner/rack.html"
    tab = ViewTab(label="Fleet states", visible=_has_nodes, permission="dcim.view_device", weight=600)

    def get_extra_context(self, request: HttpRequest, instance: Rack) -> dict[str, Any]:
        """Draw both faces, as far as the user may see devices."""
        drawn = StateElevation(
            instance,
            legend_width=RACK_ELEVATION_DEFAULT_LEGEND_WIDTH,
            margin_width=RACK_ELEVATION_DEFAULT_MARGIN_WIDTH,
            user=request.user,
        )
        faces = [(face, mark_safe(drawn.render(face).tostring())) for face in ("front", "rear")]  # noqa: S308  svgwrite escapes
        return {"faces": faces, "tones": TONES}


def register() -> None:
    """Add the tab to NetBox's racks."""
    register_model_view(Rack, "fleet_states", path="fleet-states")(RackStatesView)

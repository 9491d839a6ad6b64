"""Where the plugin's pages are, below /plugins/fleet-runner/."""

from django.urls import path

from netbox_fleet_runner import views

urlpatterns = [
    path("states/", views.StatesView.as_view(), name="states"),
    path("devices/<int:pk>/panel/", views.DevicePanelView.as_view(), name="panel"),
    path("devices/<int:pk>/wish/", views.WishView.as_view(), name="wish"),
]

"""The plugin's entry in NetBox's menu."""

from netbox.plugins import PluginMenuItem

menu_items = (
    PluginMenuItem(
        link="plugins:netbox_fleet_runner:states", link_text="Nodes by state", permissions=["dcim.view_device"]
    ),
)

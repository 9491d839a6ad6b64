"""What is asked of a NetBox to see how it answers: recorded from a real one, repeated with the stand-in.

Scenarios run in their order against one NetBox that was empty before the first, so ids are the same everywhere.
"""

import json
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Site:
    """A NetBox with an administrator's token."""

    url: str
    token: str

    def ask(self, method: str, path: str, body: Any = None, token: str = "", if_match: str = "") -> tuple[int, Any]:
        """Ask for something below /api/, and return the status and the answer."""
        text = token or self.token
        word = "Bearer" if text.startswith("nbt_") else "Token"
        told = {"Authorization": f"{word} {text}", "Content-Type": "application/json"}
        told |= {"If-Match": if_match} if if_match else {}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/api/{path}", data, told, method=method)  # noqa: S310  loopback
        try:
            with urllib.request.urlopen(request) as answer:  # noqa: S310  loopback
                return answer.status, _read(answer.read())
        except urllib.error.HTTPError as error:
            return error.code, _read(error.read())

    def make(self, path: str, **values: Any) -> int:
        """Make an object and return its id."""
        status, found = self.ask("POST", f"{path}/", values)
        if status != 201:
            raise ValueError(f"{path}: {found}")
        return int(found["id"])


def _read(text: bytes) -> Any:
    try:
        return json.loads(text) if text else None
    except ValueError:
        return text.decode()


def modelling(site: Site) -> None:
    """A node, its switch and what is in them, each object read in full once."""
    ask = site.ask
    ask("GET", "dcim/sites/")
    ask("POST", "dcim/sites/", {"name": "Hall", "slug": "hall"})
    ask("POST", "dcim/locations/", {"name": "Row A", "slug": "row-a", "site": 1})
    ask("POST", "dcim/racks/", {"name": "A1", "site": 1, "location": 1, "u_height": 48})
    ask("POST", "dcim/manufacturers/", {"name": "Maker", "slug": "maker"})
    ask("POST", "dcim/device-types/", {"manufacturer": 1, "model": "HGX", "slug": "hgx", "u_height": 8})
    templates = [
        {"device_type": 1, "name": "ib0", "type": "infiniband-ndr"},
        {"device_type": 1, "name": "bmc", "type": "1000base-t", "mgmt_only": True},
    ]
    ask("POST", "dcim/interface-templates/", templates)
    ask(
        "POST", "dcim/device-roles/", [{"name": "GPU server", "slug": "gpu-server"}, {"name": "Leaf", "slug": "leaf"}]
    )
    ask("POST", "tenancy/tenants/", {"name": "Acme", "slug": "acme"})
    node = {
        "name": "gpu-1", "device_type": 1, "role": 1, "site": 1, "location": 1, "rack": 1, "position": 1,
        "face": "front", "serial": "S1", "tenant": 1, "local_context_data": {"a": {"b": 1}},
    }  # fmt: skip
    ask("POST", "dcim/devices/", node)
    ask("POST", "dcim/devices/?fields=id,name,display", {"name": "leaf-1", "device_type": 1, "role": 2, "site": 1})
    ask("POST", "dcim/devices/", {"name": "leaf-1", "device_type": 1, "role": 2, "site": 1})
    ask("GET", "dcim/interfaces/?device_id=1")
    ask("POST", "dcim/interfaces/", {"device": 1, "name": "eth0", "type": "25gbase-x-sfp28"})
    port = {"assigned_object_type": "dcim.interface", "assigned_object_id": 2}
    ask("POST", "dcim/mac-addresses/", {"mac_address": "02:00:00:00:00:0a", **port})
    ask("PATCH", "dcim/interfaces/2/", {"primary_mac_address": 1})
    ask("PATCH", "dcim/interfaces/?fields=id,wwn", [{"id": 1, "wwn": "00:02:c9:03:00:a1:b2:c3"}])
    ask("POST", "ipam/ip-addresses/", {"address": "192.0.2.7/24", **port})
    ask("PATCH", "dcim/devices/1/?fields=id,oob_ip,primary_ip", {"oob_ip": 1})
    ask("POST", "dcim/inventory-item-roles/", {"name": "HCA", "slug": "hca"})
    ask("POST", "dcim/inventory-items/", {"device": 1, "name": "HCA 1", "role": 1, "part_id": "CX7", "serial": "C1"})
    ask("POST", "dcim/module-type-profiles/", {"name": "Accelerator"})
    ask("GET", "dcim/module-type-profiles/?fields=id,name")
    ask("POST", "dcim/module-types/", {"manufacturer": 1, "model": "H100"})
    ask("POST", "dcim/module-bays/", {"device": 1, "name": "GPU 1"})
    ask("POST", "dcim/modules/", {"device": 1, "module_bay": 1, "module_type": 1, "serial": "G1"})
    ends = [[{"object_type": "dcim.interface", "object_id": each}] for each in (1, 3)]
    ask(
        "POST",
        "dcim/cables/",
        {"a_terminations": ends[0], "b_terminations": ends[1], "status": "planned", "label": "C1"},
    )
    ask("GET", "dcim/cable-terminations/")
    ask("GET", "dcim/interfaces/1/")
    ask("GET", "dcim/devices/1/")
    ask("POST", "extras/tags/", {"name": "Spare", "slug": "spare"})
    context = {"name": "ntp", "data": {"ntp": ["192.0.2.1"], "a": {"c": 2}}, "sites": [1]}
    ask("POST", "extras/config-contexts/", context)
    ask("PATCH", "dcim/devices/1/?fields=id,tags,config_context", {"tags": [{"slug": "spare"}]})
    ask("GET", "dcim/devices/?fields=id,name,config_context")


def writing(site: Site) -> None:
    """Changes one by one and in bulk: what is refused, what is left out, and what entity tags are for."""
    ask = site.ask
    short = "dcim/devices/?fields=id,name,serial,status,custom_fields"
    ask("PATCH", short, [{"id": 1, "serial": "X1"}, {"id": 2, "serial": "X2"}])
    ask("PATCH", short, [{"id": 1, "serial": "Y1"}, {"id": 2, "status": "nonsense"}])
    ask("GET", short)
    ask("PATCH", short, [{"id": 99, "serial": "Y"}, {"id": 2, "serial": "A"}, {"id": 2, "serial": "B"}])
    ask("PATCH", short, [{"id": 1, "seriel": "Z"}])
    ask("PATCH", short, [{"serial": "Z"}])
    ask("PATCH", short, {"id": 1, "serial": "Z"})
    ask("PATCH", "dcim/devices/99/", {"serial": "Z"})
    ask("PATCH", "dcim/devices/1/?fields=id,name", {"serial": "dropped"})
    ask("PATCH", "dcim/devices/1/?fields=id,serial", {"serial": "s" * 51, "changelog_message": "because"})
    ask("PATCH", "dcim/devices/1/?fields=id,serial", {"serial": None})
    ask("PATCH", "dcim/devices/1/?fields=id,site", {"site": 99})
    ask("PATCH", "dcim/devices/1/?fields=id,site", {"site": {"slug": "elsewhere"}})
    ask("PATCH", "dcim/devices/1/?fields=id,status", {"status": {"value": "active"}})
    ask("PATCH", "dcim/devices/1/?fields=id,custom_fields", {"custom_fields": {"site_wish": "hold"}})
    ask("POST", "dcim/sites/", {"name": "Hall"})
    ask("POST", "dcim/sites/", {"name": "Hall", "slug": "hall"})
    ask("POST", "dcim/sites/", [{"name": "Attic", "slug": "attic"}, {"name": "Hall", "slug": "hall"}])
    ask("POST", "dcim/devices/", {"name": "gpu-1", "device_type": 1, "role": 1, "site": 1})
    ask("POST", "dcim/interfaces/", {"device": 1, "name": "eth0", "type": "25gbase-x-sfp28"})
    ask("POST", "dcim/interfaces/", {"device": 1, "name": "eth1", "type": "nonsense"})
    ask("PATCH", "dcim/devices/2/?fields=id,oob_ip", {"oob_ip": 1})
    one = [{"object_type": "dcim.interface", "object_id": 1}]
    two = [{"object_type": "dcim.interface", "object_id": 4}]
    ask("POST", "dcim/cables/", {"a_terminations": one, "b_terminations": two})
    tags = "dcim/cables/?fields=id,status,changelog_message"
    stale = 'W/"2020-01-01T00:00:00+00:00"'
    ask("PATCH", tags, [{"id": 1, "status": "connected"}], if_match=stale)
    ask("PATCH", "dcim/cables/1/?fields=id,status", {"status": "connected"}, if_match=stale)
    read = ask("GET", "dcim/cables/?fields=id,last_updated")[1]["results"][0]["last_updated"]
    fresh = f'{stale}, W/"{read.replace("Z", "+00:00")}"'
    ask("PATCH", tags, [{"id": 1, "status": "connected", "changelog_message": "seen"}], if_match=fresh)
    ask("GET", "dcim/cables/?fields=id,status")
    ask("GET", "dcim/interfaces/?id=1&fields=id,connected_endpoints_reachable,link_peers_type,cable_end")
    ask("GET", "dcim/nonsense/")
    ask("GET", "dcim/devices/99/")


def custom_fields(site: Site) -> None:
    """Choice sets and custom fields made, filled and refused."""
    ask = site.ask
    choices = [["hold", "Hold"], ["release", "Release"]]
    ask("POST", "extras/custom-field-choice-sets/", {"name": "wishes", "extra_choices": choices})
    wish = {"name": "site_wish", "type": "select", "object_types": ["dcim.device"], "choice_set": 1, "label": "Wish"}
    ask("POST", "extras/custom-fields/", wish)
    ask("POST", "extras/custom-fields/", wish)
    ask("POST", "extras/custom-fields/", {"name": "site_since", "type": "datetime", "object_types": ["dcim.device"]})
    ask("POST", "extras/custom-fields/", {"name": "site_reason", "type": "text", "object_types": ["dcim.device"]})
    ask("POST", "extras/custom-fields/", {"name": "bad", "type": "select", "object_types": ["dcim.device"]})
    ask("GET", "extras/custom-fields/?name=site_wish&fields=id,name,choice_set,object_types,ui_editable")
    ask("GET", "extras/custom-fields/?object_type=dcim.device&fields=id,name")
    short = "dcim/devices/?fields=id,custom_fields"
    ask("GET", short)
    ask("PATCH", short, [{"id": 1, "custom_fields": {"site_wish": "hold", "site_reason": "why"}}])
    ask("PATCH", short, [{"id": 1, "custom_fields": {"site_wish": "fly"}}])
    ask("PATCH", short, [{"id": 1, "custom_fields": {"site_since": "yesterday"}}])
    ask("PATCH", short, [{"id": 1, "custom_fields": {"site_since": "2026-02-01T10:00:00+00:00"}}])
    ask("PATCH", short, [{"id": 1, "custom_fields": {"site_other": 1}}])
    ask("PATCH", short, [{"id": 1, "custom_fields": {"site_reason": 7}}])
    ask("PATCH", short, [{"id": 1, "custom_fields": {"site_wish": None, "site_reason": ""}}])
    ask("GET", "dcim/devices/?cf_site_wish=hold&fields=id")
    ask("PATCH", "extras/custom-fields/1/?fields=id,label", {"label": "What to do"})
    ask("PATCH", "extras/custom-field-choice-sets/1/?fields=id,extra_choices", {"extra_choices": choices[:1]})


def changes(site: Site) -> None:
    """What NetBox notes of changes, and journal entries."""
    ask = site.ask
    short = "id,action,changed_object_type,changed_object_id,object_repr,user_name,message"
    ask("GET", f"core/object-changes/?ordering=id&limit=1000&fields={short}")
    ask("PATCH", "dcim/devices/1/?fields=id,serial", {"serial": "V1", "changelog_message": "with words"})
    ask("PATCH", "dcim/devices/1/?fields=id,serial", {"serial": "V1"})
    whole = f"{short},prechange_data,postchange_data"
    ask("GET", f"core/object-changes/?changed_object_type=dcim.device&changed_object_id=1&limit=1&fields={whole}")
    ask("PATCH", "dcim/devices/1/?fields=id,custom_fields", {"custom_fields": {"site_wish": "hold"}})
    ask("GET", f"core/object-changes/?limit=1&fields={whole}")
    newest = ask("GET", "core/object-changes/?limit=1&fields=id")[1]["results"][0]["id"]
    ask("GET", f"core/object-changes/?id__gt={newest}&fields={short}")
    ask("GET", f"core/object-changes/?id__gte={newest}&ordering=id&fields={short}")
    ask("GET", f"core/object-changes/?user_name=nobody&fields={short}")
    ask("GET", "core/object-changes/?limit=1")
    entry = {"assigned_object_type": "dcim.device", "assigned_object_id": 1, "kind": "warning", "comments": "held"}
    ask("POST", "extras/journal-entries/", entry)
    ask(
        "POST",
        "extras/journal-entries/",
        [entry | {"comments": "one"}, entry | {"comments": "two", "kind": "success"}],
    )
    ask("POST", "extras/journal-entries/", entry | {"kind": "nonsense"})
    ask("POST", "extras/journal-entries/", entry | {"assigned_object_id": 99})
    ask("POST", "extras/journal-entries/", entry | {"comments": ""})
    mine = "assigned_object_type=dcim.device&assigned_object_id=1"
    ask("GET", f"extras/journal-entries/?{mine}&fields=id,comments,kind,created_by,assigned_object_id")
    ask("GET", f"core/object-changes/?ordering=-id&limit=3&fields={short}")


def pages(site: Site) -> None:
    """Pages, orders and filters."""
    ask = site.ask
    ports = [{"device": 2, "name": f"eth1/{at}", "type": "25gbase-x-sfp28"} for at in (1, 10, 2)]
    ask("POST", "dcim/interfaces/", ports[0])
    ask("POST", "dcim/interfaces/", ports[1])
    ask("POST", "dcim/interfaces/", ports[2])
    listed = "dcim/interfaces/?fields=id,name"
    for query in (
        "limit=2", "limit=2&offset=2", "limit=2&start=3", "limit=2&offset=99", "limit=0", "limit=-1", "limit=many",
        "ordering=-id", "ordering=name,-id&limit=3", "id=1&id=4", "id=99", "id=text", "nonsense=1", "device_id=2",
        "device=gpu-1", "device=nobody", "device_id=99", "name=ib0", "name__n=ib0", "name__ic=ETH", "cabled=true",
        "cabled=false", "mac_address=02:00:00:00:00:0a", "type=1000base-t", "mgmt_only=true",
        "last_updated__gte=2020-01-01T00:00:00Z",
        "last_updated__gte=2120-01-01", "last_updated__gte=nonsense", "device_id=1&device_id=2&name=ib0", "site=hall",
    ):  # fmt: skip
        ask("GET", f"{listed}&{query}")
    for query in (
        "status=active",
        "role=leaf",
        "tenant=acme",
        "tag=spare",
        "serial=V1",
        "site_id=1",
        "name=gpu-1",
        "brief=true",
    ):
        ask("GET", f"dcim/devices/?fields=id,name&{query}" if "brief" not in query else f"dcim/devices/?{query}")
    for query in ("device_id=1", "interface_id=1", "status=connected", "label=C1"):
        ask("GET", f"dcim/cables/?fields=id,label&{query}")
    for query in ("device_id=1", "assigned_object_id=2", "interface_id=2", "mac_address=02:00:00:00:00:0A"):
        ask("GET", f"dcim/mac-addresses/?fields=id,mac_address&{query}")
    ask("GET", "dcim/cable-terminations/?cable=1&fields=id,cable_end,termination_id")
    ask("GET", "dcim/cable-terminations/?termination_type=dcim.interface&termination_id=1&fields=id,cable")
    ask("GET", "ipam/ip-addresses/?device_id=1&fields=id,address")
    ask("GET", "dcim/devices/?fields=id,nonsense")
    ask("GET", "dcim/devices/1/?fields=id,name")
    ask("GET", "dcim/devices/1/?omit=config_context,device_type,site,location,rack,role,tenant,primary_ip,oob_ip")


def exporting(site: Site) -> None:
    """Export templates: made, rendered, missing and wrong."""
    ask = site.ask
    code = (
        "{% for d in queryset %}{{ d.name }}|{{ d.site.name }}|{{ d.site_id }}|{{ d.serial }}|"
        "{{ d.get_config_context() | tojson }};{% endfor %}"
    )
    template = {"name": "mine", "object_types": ["dcim.device"], "template_code": code}
    ask("POST", "extras/export-templates/", template)
    ask("GET", "dcim/devices/?export=mine")
    ask("GET", "dcim/devices/?export=mine&id=2")
    ask("GET", "dcim/devices/?export=other")
    ask("GET", "dcim/sites/?export=mine")
    ask("PATCH", "extras/export-templates/1/?fields=id,mime_type", {"mime_type": "application/json"})
    ask("PATCH", "extras/export-templates/1/?fields=id,template_code", {"template_code": "[{{ queryset.count() }}]"})
    ask("GET", "dcim/devices/?export=mine")
    ask("PATCH", "extras/export-templates/1/?fields=id,template_code", {"template_code": "{% for x in %}"})
    rows = (
        "{% for c in queryset.values_list('id', 'cable_id', 'cable_end', 'termination_id') %}"
        "{{ c | join(',') }};{% endfor %}"
    )
    links = (
        "{% for c in queryset.prefetch_related('terminations') %}{% for t in c.terminations.all() %}"
        "{{ t.cable_end }} {{ t.termination.device.name }} {{ t.termination.name }};{% endfor %}{% endfor %}"
    )
    for name, kind, text in (("ends", "dcim.cabletermination", rows), ("links", "dcim.cable", links)):
        ask("POST", "extras/export-templates/", {"name": name, "object_types": [kind], "template_code": text})
    ask("GET", "dcim/cables/?export=links")
    ask("GET", "dcim/cable-terminations/?export=ends")
    ask("GET", "extras/export-templates/?name=mine&fields=id,name,object_types,description")


def people(site: Site) -> None:
    """Users, permissions and both kinds of tokens; what is missing is refused."""
    ask = site.ask
    ask("GET", "users/users/?fields=id,username")
    ask("POST", "users/users/", {"username": "reader", "password": "Not-a-secret-1"})
    reading = {"name": "reads", "object_types": ["dcim.device", "dcim.site"], "actions": ["view"], "users": [2]}
    ask("POST", "users/permissions/", reading)
    changing = {"name": "leaf only", "object_types": ["dcim.device"], "actions": ["change"], "users": [2]}
    ask("POST", "users/permissions/", changing | {"constraints": {"name": "leaf-1"}})
    first = ask("POST", "users/tokens/", {"user": 2, "version": 1, "write_enabled": False})[1]
    second = ask("POST", "users/tokens/", {"user": 2, "version": 2})[1]
    ask("GET", "users/tokens/?user_id=2&ordering=id&fields=id,version,write_enabled,user,token")
    old, new = str(first["token"]), f"nbt_{second['key']}.{second['token']}"
    for token in (old, new, "nbt_wrong.token", "wrong"):
        ask("GET", "dcim/devices/?fields=id,name", token=token)
    ask("GET", "dcim/cables/?fields=id", token=new)
    ask("GET", "core/object-changes/?fields=id", token=new)
    ask("PATCH", "dcim/devices/2/?fields=id,serial", {"serial": "R"}, token=old)
    ask("PATCH", "dcim/devices/2/?fields=id,serial", {"serial": "R"}, token=new)
    ask("PATCH", "dcim/devices/1/?fields=id,serial", {"serial": "R"}, token=new)
    ask("PATCH", "dcim/devices/?fields=id,serial", [{"id": 1, "serial": "Q"}, {"id": 2, "serial": "Q"}], token=new)
    ask("POST", "dcim/sites/", {"name": "No", "slug": "no"}, token=new)
    ask(
        "POST",
        "extras/journal-entries/",
        {"assigned_object_type": "dcim.device", "assigned_object_id": 2, "comments": "x"},
        token=new,
    )
    ask("GET", "status/", token="wrong")


def panels(site: Site) -> None:
    """Patch panels, a virtual chassis, and a cable through both."""
    ask = site.ask
    site.make("dcim/device-types", manufacturer=1, model="PP", slug="pp", u_height=1)
    site.make("dcim/device-roles", name="Panel", slug="panel")
    panel = site.make("dcim/devices", name="PP-A", device_type=2, role=3, site=1)
    ask("POST", "dcim/rear-ports/", {"device": panel, "name": "R1", "type": "mpo", "positions": 2})
    for at in (1, 2):
        rear = [{"position": 1, "rear_port": 1, "rear_port_position": at}]
        ask("POST", "dcim/front-ports/", {"device": panel, "name": f"F{at}", "type": "lc", "rear_ports": rear})
    ask("GET", "dcim/front-ports/?fields=id,device,name,rear_ports")
    ask("GET", "dcim/rear-ports/?fields=id,device,name,positions,front_ports")
    ends = [{"object_type": "dcim.interface", "object_id": 5}], [{"object_type": "dcim.frontport", "object_id": 2}]
    ask("POST", "dcim/cables/", {"a_terminations": ends[0], "b_terminations": ends[1], "type": "mmf"})
    ask("GET", "dcim/interfaces/5/?fields=id,link_peers,connected_endpoints,connected_endpoints_reachable")
    ask("GET", "dcim/cables/?fields=id,a_terminations,b_terminations,status,profile,bundle,type")
    ask("POST", "dcim/virtual-chassis/", {"name": "stack"})
    member = {"virtual_chassis": 1, "vc_position": 1}
    ask("PATCH", "dcim/devices/2/?fields=id,virtual_chassis,vc_position", member)
    ask("PATCH", "dcim/virtual-chassis/1/", {"master": 2})
    ask("GET", "dcim/devices/?fields=id,virtual_chassis&virtual_chassis_id=1")


def preparing(site: Site) -> None:
    """Links, webhooks and event rules."""
    ask = site.ask
    link = {"name": "page", "object_types": ["dcim.device"], "link_text": "{{ object.name }}"}
    ask("POST", "extras/custom-links/", link | {"link_url": "https://fleet.example/node/{{ object.name }}"})
    hook = {"name": "bell", "payload_url": "https://fleet.example/signals/netbox", "secret": "made-up"}
    ask("POST", "extras/webhooks/", hook)
    rule = {"name": "bell", "object_types": ["dcim.device"], "event_types": ["object_updated"]}
    ask("POST", "extras/event-rules/", rule | {"action_type": "webhook"})
    action = {"action_type": "webhook", "action_object_type": "extras.webhook", "action_object_id": 1}
    ask("POST", "extras/event-rules/", rule | action)
    ask("POST", "extras/webhooks/", hook)
    ask("PATCH", "extras/webhooks/1/?fields=id,description", {"description": "ours"})
    ask("POST", "extras/tags/", {"name": "Spare", "slug": "spare"})
    ask("GET", "extras/object-types/?fields=id")
    ask("GET", "users/users/?username=reader&fields=id,username,is_active")
    ask("GET", "users/permissions/?fields=id,name,users,object_types,actions,constraints")


def deleting(site: Site) -> None:
    """Deletions, what goes with them and what they refuse."""
    ask = site.ask
    ask("DELETE", "dcim/sites/1/")
    ask("DELETE", "dcim/device-types/1/")
    ask("DELETE", "dcim/device-types/", [{"id": 1}, {"id": 2}])
    other = [{"object_type": "dcim.interface", "object_id": 4}]
    ask("PATCH", "dcim/cables/1/?fields=id,a_terminations,b_terminations", {"b_terminations": other})
    ask("DELETE", "dcim/cables/1/")
    ask("GET", "dcim/cable-terminations/?fields=id")
    ask("DELETE", "dcim/interfaces/", [{"id": 3}, {"id": 99}])
    ask("DELETE", "dcim/mac-addresses/1/")
    ask("GET", "dcim/interfaces/2/?fields=id,mac_address,primary_mac_address,mac_addresses")
    ask("DELETE", "ipam/ip-addresses/1/")
    ask("GET", "dcim/devices/1/?fields=id,oob_ip")
    ask("DELETE", "dcim/devices/2/", {"changelog_message": "gone"})
    ask("DELETE", "dcim/devices/1/")
    ask("GET", "dcim/interfaces/?fields=id")
    ask("GET", "dcim/modules/?fields=id")
    ask(
        "GET",
        "core/object-changes/?limit=30&ordering=-id&fields=id,action,changed_object_type,changed_object_id,message",
    )


SCENARIOS: Mapping[str, Callable[[Site], None]] = {
    "modelling": modelling,
    "writing": writing,
    "custom_fields": custom_fields,
    "changes": changes,
    "pages": pages,
    "exporting": exporting,
    "people": people,
    "panels": panels,
    "preparing": preparing,
    "deleting": deleting,
}

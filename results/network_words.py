# SPDX-License-Identifier: GPL-2.0-or-later
"""What stands in the boxes of a network's picture, and the picture of a topology file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from contracts import durable
from contracts.errors import NetBoxITError
from contracts.netbox_configuration import netbox_configuration
from contracts.plan import NodePlan, Plan
from results.network_picture import picture
from system.user_privileges import check_new

#: As many parameters fit into a box of the picture.
_MOST_LINES = 6
#: Keys of a netbox that are no parameters of what it emulates; the technology stands by itself, its machine around it.
_NO_PARAMETERS = ("technology", "host", "io", "cores", "share")


class PictureFailed(NetBoxITError):
    """A picture could not be written."""

    exit_status = 2


def write_picture(plan: Plan, written: Mapping[str, object], file: Path, *, overwrite: bool = False) -> None:
    """Draws the network of a plan, of a topology with this data, into an SVG file of its own. Raises PictureFailed, FileThere."""
    if file.suffix.lower() not in ("", ".svg"):
        raise PictureFailed(f"picture {file}: pictures are SVG, and not {file.suffix[1:]}; call it {file.stem}.svg")
    if not overwrite:
        check_new([file])
    drawn = picture(plan, _words(plan, written), rightmost(plan), alone=True)
    try:
        durable.write(file, drawn + "\n")
    except OSError as error:
        raise PictureFailed(f"picture {file}: {error.strerror}; give the path of a file that can be written") from error


def network_words(plan: Plan, topology: Path) -> dict[str, list[str]]:
    """For each node the lines for its box: of a netbox technology and parameters as the user wrote them, of others addresses."""
    return _words(plan, _read(topology))


def _words(plan: Plan, topology: Mapping[str, object]) -> dict[str, list[str]]:
    netboxes = topology.get("netboxes")
    written = netboxes if isinstance(netboxes, dict) else {}
    words = {}
    for node in plan.nodes:
        if node.kind == "netbox":
            own = written.get(node.name, {})
            plain = [
                f"{name.replace('_', ' ')} {str(value).lower() if isinstance(value, bool) else value}"
                for name, value in own.items()
                if isinstance(value, (str, int, float)) and name not in _NO_PARAMETERS
            ]
            words[node.name] = [str(own.get("technology", _technology(node))), *plain[:_MOST_LINES]]
        else:
            words[node.name] = [address for interface in node.interfaces for address in interface.addresses]
    return words


def rightmost(plan: Plan) -> str | None:
    """The host that a picture ends with: return traffic is drawn from left to right."""
    if not plan.traffic:
        return None
    first = plan.traffic[0]
    return first.destination if first.direction == "return" else first.source


def _technology(netbox: NodePlan) -> str:
    """Of a lab whose topology is not at hand: traffic through a lab that was up keeps its own file only."""
    return netbox_configuration(netbox)["technology"]


def _read(path: Path) -> Mapping[str, object]:
    try:
        content = YAML(typ="safe").load(path)
    except (OSError, UnicodeDecodeError, RecursionError, YAMLError):
        return {}
    return content if isinstance(content, dict) else {}

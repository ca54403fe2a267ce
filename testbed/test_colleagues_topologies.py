# SPDX-License-Identifier: GPL-2.0-or-later
"""Topologies come from colleagues: none runs a command on the host, escapes a path, or names what is another lab's."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from contracts.errors import BadTopology, NetBoxITError
from contracts.installation import CHECKOUT
from contracts.names import container_name
from contracts.plan import Plan
from testbed.description.test_topology_mutations import EVENTS, REALTIME, Place, at, places, whole
from testbed.description.topology_schema import schema
from testbed.plans.planning import plan_file

_TABLE = (CHECKOUT / "docs/rights.md").read_text().partition("### What each key can name")[2].partition("\n## ")[0]
#: What stands for a number with a unit.
_NUMBER = r"^\s*[+-]?[0-9.]"
#: Lists, or a file with them: the schema has the lists only.
OR_A_FILE = {"path", "delay_gaps"}


def documented() -> set[str]:
    rows = re.findall(r"^\| (.+?) \|", _TABLE, re.MULTILINE)
    return {key for row in rows for key in re.findall(r"`(\w+)`", row)}


def takes_words(part: Any) -> bool:
    """Whether any words may stand there."""
    kinds = part.get("type") if isinstance(part, dict) else None
    if kinds is None and not isinstance(part, dict):
        return False
    if "string" in ([kinds] if isinstance(kinds, str) else kinds or ()):
        return not {"enum", "const"} & part.keys() and not str(part.get("pattern", "")).startswith(_NUMBER)
    inside = [*part.get("anyOf", ()), *part.get("prefixItems", ()), *part.get("patternProperties", {}).values()]
    return any(map(takes_words, [*inside, part.get("items"), part.get("additionalProperties")]))


def keys(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        yield from (key for key, value in part.get("properties", {}).items() if takes_words(value))
        for value in part.values():
            yield from keys(value)
    elif isinstance(part, list):
        for value in part:
            yield from keys(value)


def test_each_key_that_takes_words_is_in_the_table_of_what_it_can_reach() -> None:
    assert documented() == {*keys(schema()), *OR_A_FILE}


def network(**netbox: Any) -> dict[str, Any]:
    """Two hosts at a netbox with these keys."""
    left, right = netbox["stations"]
    return {
        "name": "x",
        "hosts": {"a": {"address": "10.0.0.1/24"}, "b": {"address": "10.0.0.2/24"}},
        "netboxes": {"n": netbox},
        "wires": [["a", f"n.{left}"], [f"n.{right}", "b"]],
    }


#: For each key that names a file, a network in which HERE is it.
FILES: dict[str, dict[str, Any]] = {
    "file": network(technology="link", stations={"l": {}, "r": {}}, trace={"file": "HERE"}),
    "table": network(technology="link", stations={"l": {}, "r": {}}, jitter={"distribution": "table", "table": "HERE"}),
    "fade_series": network(
        technology="wimax", stations={"l": {"role": "base"}, "r": {"role": "subscriber", "fade_series": "HERE"}}
    ),
    "fade_profile": network(
        technology="satellite", stations={"l": {"role": "gateway"}, "r": {"role": "terminal", "fade_profile": "HERE"}}
    ),
    "delay_profile": network(
        technology="satellite", stations={"l": {"role": "gateway"}, "r": {"role": "terminal"}}, delay_profile="HERE"
    ),
    "delay_gaps": network(
        technology="satellite", stations={"l": {"role": "gateway"}, "r": {"role": "terminal"}}, delay_gaps="HERE"
    ),
    "path": network(technology="wifi", stations={"l": {"role": "access-point"}, "r": {"role": "station", "path": "HERE"}}),
    "trace": network(technology="generator", stations={"l": {}, "r": {}}, pattern="trace", trace="HERE"),
    "configuration": {
        "name": "x",
        "hosts": {"a": {"address": "10.0.0.1/24"}},
        "routers": {"r": {"configuration": "HERE", "interfaces": {"a": "10.0.0.254/24"}}},
        "wires": [["a", "r.a"]],
    },
}
LEADING_OUT = (
    *(
        "/etc/passwd",
        "../secret",
        "../../../../../../../etc/passwd",
        "below/../../secret",
        "link",
        "linked/secret",
        "//etc/passwd",
    ),
    *(
        "/proc/self/environ",
        "/dev/stdin",
        "~/.bashrc",
        "~root/.bashrc",
        "",
        ".",
        "..",
        "below",
        "a\0b",
        "secret\n",
        "file:///etc/passwd",
    ),
)


@pytest.mark.parametrize("key", FILES)
def test_a_file_is_below_the_topologys_folder_or_in_the_checkout(key: str, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("what is not the colleague's to see")
    (tmp_path / "own/below").mkdir(parents=True)
    (tmp_path / "own/link").symlink_to(tmp_path / "secret")
    (tmp_path / "own/linked").symlink_to(tmp_path)
    file = tmp_path / "own/x.yaml"
    for path in LEADING_OUT:
        file.write_text(json.dumps(FILES[key]).replace('"HERE"', json.dumps(path)))
        with pytest.raises(BadTopology) as told:
            plan_file(file, realtime=REALTIME)
        wrong = "; ".join(error.cause + error.remedy for error in told.value.errors)
        assert "not the colleague's" not in wrong
        assert re.search(
            r"leads out of|there is no file|not in the checkout|write its path|name of a file|a file|is not", wrong
        ), (path, wrong)


def test_the_table_has_a_network_for_each_key_of_a_file() -> None:
    row = next(line for line in _TABLE.splitlines() if line.startswith("| `configuration`"))
    assert {*re.findall(r"`(\w+)`", row.split("|")[1]), "trace"} == FILES.keys()


def topologies() -> list[tuple[dict[str, Any], Place]]:
    """The network with all sections, as a topology with what replaces a netbox and without, and where words stand in it."""
    plain = {key: value for key, value in whole().items() if key != "replace"}
    replaced = whole() | {"events": [EVENTS[0], EVENTS[1], EVENTS[5]]}
    found = [(plain, place) for place in places(plain)] + [
        (replaced, place) for place in places(replaced) if place[0] == "replace"
    ]
    words = documented() | {"wires"}
    return [(data, place) for data, place in found if isinstance(at(data, place), str) and words & {*place[-3:]}]


@pytest.mark.parametrize("words", ["$(touch {0});`touch {0}`|touch {0}&", "../other"])
def test_no_words_anywhere_become_a_command_or_another_labs_name(words: str, tmp_path: Path) -> None:
    marker, file = tmp_path / "was-here", tmp_path / "x.yaml"
    made, refused = 0, set()
    for data, place in topologies():
        changed = copy.deepcopy(data)
        at(changed, place[:-1])[place[-1]] = words.format(marker)
        file.write_text(json.dumps(changed))
        try:
            plan = plan_file(file, realtime=REALTIME)
        except NetBoxITError as error:
            refused.add(str(error))
            continue
        made += 1
        check_names(plan)
    assert made > 0, f"the description may say anything; refused were: {refused}"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.yaml"]


def check_names(plan: Plan) -> None:
    """All that is made on the host has the lab's name; what nodes run is ours."""
    for node in plan.nodes:
        assert node.container == node.namespace == container_name(plan.lab, node.name)
        assert all("/" not in name and name not in ("", ".", "..") for name in node.files)
        assert node.command[0] in ("/usr/bin/sleep", "/usr/bin/python3") or Path(node.command[0]).is_relative_to(CHECKOUT), (
            node.command
        )
    assert len({node.container for node in plan.nodes}) == len(plan.nodes)
    for wire in plan.wires:
        assert re.fullmatch(r"[a-z0-9.-]+", wire.name), wire.name
    for port in plan.equipment:
        assert re.fullmatch(r"[^\s/:]{1,15}", port.device), port.device

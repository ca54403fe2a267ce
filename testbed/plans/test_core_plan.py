# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from testbed.plans.core_plan import CorePlan, core_sets, plan_cores

HOSTS, NETBOXES, ROUTERS = ("fr1", "eoc"), ("field", "longhaul", "backhaul"), ("meoc",)


def emergency_on(*cores: int) -> CorePlan:
    return plan_cores(cores, hosts=HOSTS, netboxes=NETBOXES, routers=ROUTERS)


def test_with_cores_enough_each_emulator_has_its_own_and_hosts_have_the_rest() -> None:
    plan = emergency_on(0, 1, 2, 3, 4, 5, 6)
    assert plan.cores == {
        "fr1": (0, 5, 6),
        "eoc": (0, 5, 6),
        "field": (1,),
        "longhaul": (2,),
        "backhaul": (3,),
        "meoc": (4,),
    }
    assert plan.notes == ()


def test_a_router_goes_to_a_netbox_when_no_core_is_left_and_that_is_said() -> None:
    plan = emergency_on(0, 1, 2, 3)
    assert plan.cores["meoc"] == (1,)
    assert [plan.cores[netbox] for netbox in NETBOXES] == [(1,), (2,), (3,)]
    (note,) = plan.notes
    assert note.startswith(
        "field and meoc share core 1: the lab may use 4 cores, core 0 for hosts and interrupts, and 5 are needed"
    )


def test_a_router_goes_where_fewest_netboxes_are() -> None:
    assert emergency_on(0, 1, 2).cores == {
        "fr1": (0,),
        "eoc": (0,),
        "field": (1,),
        "longhaul": (2,),
        "backhaul": (1,),
        "meoc": (2,),
    }


def test_two_cores_keep_hosts_away_from_all_emulators() -> None:
    plan = emergency_on(0, 1)
    assert {plan.cores[node] for node in (*NETBOXES, *ROUTERS)} == {(1,)}
    assert {plan.cores[host] for host in HOSTS} == {(0,)}
    assert plan.notes[0].startswith("field, longhaul, backhaul and meoc share core 1")


def test_one_core_is_shared_by_all_with_a_warning() -> None:
    plan = emergency_on(3)
    assert set(plan.cores.values()) == {(3,)}
    assert "the run will probably be degraded" in plan.notes[0]


def test_the_first_core_that_is_allowed_is_for_housekeeping() -> None:
    plan = emergency_on(9, 4, 7, 5, 6)
    assert plan.cores["fr1"] == (4,)
    assert 4 not in {core for node in (*NETBOXES, *ROUTERS) for core in plan.cores[node]}


def test_hosts_alone_need_no_warning() -> None:
    assert plan_cores((0,), hosts=HOSTS, netboxes=(), routers=()).notes == ()


@given(st.sets(st.integers(0, 63), min_size=1, max_size=12), st.integers(0, 9), st.integers(0, 4))
def test_every_node_has_cores_of_those_allowed_and_sharing_is_always_said(cores: set[int], netboxes: int, routers: int) -> None:
    boxes, ways = tuple(f"n{i}" for i in range(netboxes)), tuple(f"r{i}" for i in range(routers))
    plan = plan_cores(tuple(cores), hosts=HOSTS, netboxes=boxes, routers=ways)
    assert set(plan.cores) == {*HOSTS, *boxes, *ways}
    assert all(of and set(of) <= cores for of in plan.cores.values())
    emulating = [plan.cores[node][0] for node in (*boxes, *ways)]
    assert bool(plan.notes) == (len(emulating) + 1 > len(cores) and bool(emulating))
    if len(cores) > 1:
        assert min(cores) not in emulating
        spare = sorted(cores)[1:]
        if netboxes < len(spare):  # then routers share among themselves rather than with a netbox
            assert len({plan.cores[box] for box in boxes}) == netboxes
            assert {plan.cores[box] for box in boxes}.isdisjoint(plan.cores[way] for way in ways)
        else:
            uses = [emulating.count(core) for core in spare]
            assert max(uses) - min(uses) <= 1


def test_netboxes_of_one_share_are_on_one_core_and_the_others_keep_theirs() -> None:
    plan = plan_cores(
        (0, 1, 2, 3), hosts=HOSTS, netboxes=NETBOXES, routers=ROUTERS, shares={"field": "small", "backhaul": "small"}
    )
    assert [plan.cores[node] for node in (*NETBOXES, *ROUTERS)] == [(1,), (2,), (1,), (3,)]
    assert plan.notes == ("field and backhaul share core 1, as share: small asks",)


def test_a_share_of_one_is_said_for_it_is_probably_misspelt() -> None:
    plan = plan_cores((0, 1, 2, 3, 4), hosts=HOSTS, netboxes=NETBOXES, routers=ROUTERS, shares={"field": "smal"})
    assert plan.notes == ("field is alone in share: smal",)


def test_a_share_may_be_called_like_a_netbox() -> None:
    plan = plan_cores((0, 1, 2, 3, 4), hosts=HOSTS, netboxes=NETBOXES, routers=ROUTERS, shares={"field": "backhaul"})
    assert plan.cores["field"] != plan.cores["backhaul"]


def test_a_second_core_is_given_after_every_emulator_has_its_own() -> None:
    wanting = ("field", "backhaul")
    plan = plan_cores(range(6), hosts=HOSTS, netboxes=NETBOXES, routers=ROUTERS, two_cores=wanting)
    assert (plan.cores["field"], plan.cores["backhaul"], plan.io_cores) == ((1, 5), (3,), {"field": 5})
    (note,) = plan.notes
    assert note.startswith("backhaul asked for a second core and got none: the lab may use 6 cores")
    assert plan.cores["eoc"] == (0,)


CORES = st.sets(st.integers(0, 63), min_size=1, max_size=16)
WISHES = st.lists(st.sampled_from(("alone", "two", "red", "blue")), max_size=9)


@given(CORES, WISHES, st.integers(0, 3))
def test_wishes_are_fulfilled_or_their_failure_is_said(cores: set[int], wishes: list[str], routers: int) -> None:
    boxes, ways = tuple(f"n{i}" for i in range(len(wishes))), tuple(f"r{i}" for i in range(routers))
    shares = {box: wish for box, wish in zip(boxes, wishes, strict=True) if wish in ("red", "blue")}
    wanting = tuple(box for box, wish in zip(boxes, wishes, strict=True) if wish == "two")
    plan = plan_cores(tuple(cores), hosts=HOSTS, netboxes=boxes, routers=ways, shares=shares, two_cores=wanting)
    assert all(of and set(of) <= cores for of in plan.cores.values())
    for box in wanting:
        assert plan.cores[box][1:] == ((plan.io_cores[box],) if box in plan.io_cores else ())
        assert (box in plan.io_cores) != any("asked for a second core" in note and box in note for note in plan.notes)
    # A second core is nobody else's, not even a host's.
    taken = [core for node, of in plan.cores.items() if node not in HOSTS for core in of]
    assert all(taken.count(core) == 1 and core not in plan.cores["eoc"] for core in plan.io_cores.values())
    for word in set(shares.values()):
        assert len({plan.cores[box] for box in shares if shares[box] == word}) == 1


@given(CORES, WISHES)
def test_with_cores_enough_only_those_share_that_asked_to(cores: set[int], wishes: list[str]) -> None:
    boxes = tuple(f"n{i}" for i in range(len(wishes)))
    shares = {box: wish for box, wish in zip(boxes, wishes, strict=True) if wish in ("red", "blue")}
    plan = plan_cores(tuple(cores), hosts=HOSTS, netboxes=boxes, routers=(), shares=shares)
    together = {(one, other) for one in boxes for other in boxes if plan.cores[one] == plan.cores[other]}
    asked = {(one, other) for one in boxes for other in boxes if one == other or shares.get(one, one) == shares.get(other, other)}
    groups = len({shares.get(box, box) for box in boxes})
    assert together >= asked
    assert (together == asked) == (groups < len(cores) or groups <= 1)


def test_cores_of_another_lab_come_last_and_its_name_is_said() -> None:
    plan = plan_cores((0, 1, 2, 3), hosts=HOSTS, netboxes=("field", "longhaul"), routers=(), others={1: "first", 2: "first"})
    assert plan.cores == {"fr1": (0,), "eoc": (0,), "field": (3,), "longhaul": (1,)}
    assert plan.notes == ("core 1 is shared by longhaul and emulators of lab first; each can make the others late",)


def test_beside_another_lab_with_cores_enough_nothing_is_shared() -> None:
    plan = plan_cores((0, 1, 2, 3, 4), hosts=HOSTS, netboxes=("field",), routers=ROUTERS, others={1: "first", 2: "first"})
    assert plan.cores == {"fr1": (0,), "eoc": (0,), "field": (3,), "meoc": (4,)}
    assert plan.notes == ()


@given(CORES, WISHES, st.integers(0, 3))
def test_with_the_cores_that_it_needs_a_lab_shares_none_for_want_of_them(
    cores: set[int], wishes: list[str], routers: int
) -> None:
    boxes, ways = tuple(f"n{i}" for i in range(len(wishes))), tuple(f"r{i}" for i in range(routers))
    shares = {box: wish for box, wish in zip(boxes, wishes, strict=True) if wish in ("red", "blue")}
    wanting = tuple(box for box, wish in zip(boxes, wishes, strict=True) if wish == "two")
    plan = plan_cores(tuple(cores), hosts=HOSTS, netboxes=boxes, routers=ways, shares=shares, two_cores=wanting)
    for there in (plan.needed, plan.needed - 1):
        given = (
            plan_cores(range(there), hosts=HOSTS, netboxes=boxes, routers=ways, shares=shares, two_cores=wanting)
            if there
            else None
        )
        wanted = (
            any("are needed" in note or "got none" in note or "the only one" in note for note in given.notes) if given else True
        )
        assert wanted == (there < plan.needed)


def test_labs_at_the_same_time_have_disjoint_cores_and_each_those_that_it_needs() -> None:
    assert core_sets(range(8), 2, ()) == [(0, 1), (2, 3), (4, 5), (6, 7)]
    assert core_sets((1, 2, 5, 6, 9, 11, 12), 3, ()) == [(1, 2, 5), (6, 9, 11, 12)]
    # One lab, which shares cores, where there is no room for two.
    assert core_sets((0, 1), 5, ()) == core_sets((0, 1), 2, ()) == [(0, 1)]
    assert core_sets((0, 1), 0, ()) == core_sets((0, 1), 1, isolated={1}) == [(0, 1)]
    assert core_sets((0, 1), 1, isolated={7}) == [(0,), (1,)]


@given(CORES, st.integers(0, 9))
def test_sets_of_cores_have_each_core_once(cores: set[int], needed: int) -> None:
    sets = core_sets(sorted(cores), needed, ())
    assert [core for each in sets for core in each] == sorted(cores)
    assert len(sets) == 1 or all(len(each) >= needed for each in sets)


def test_emulators_come_to_isolated_cores_first_and_hosts_never() -> None:
    plan = plan_cores(range(8), hosts=HOSTS, netboxes=NETBOXES, routers=(), isolated={0, 4, 5, 6})
    assert plan.cores == {
        "fr1": (1, 2, 3, 7),
        "eoc": (1, 2, 3, 7),
        "field": (0,),
        "longhaul": (4,),
        "backhaul": (5,),
    }
    few = plan_cores(range(4), hosts=HOSTS, netboxes=NETBOXES, routers=(), isolated={3})
    assert [few.cores[node] for node in (*NETBOXES, *HOSTS)] == [(3,), (1,), (2,), (0,), (0,)]

# SPDX-License-Identifier: GPL-2.0-or-later
"""What goes onto which machine."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as some

from testbed.plans.partition import Joint, Joints, Unit, partition

Drawn = tuple[list[Unit], dict[tuple[int, int], Joint], list[int]]


def cost(units: list[Unit], joints: Joints, cores: list[int], machine: tuple[int, ...]) -> tuple[int, int, int, int]:
    needs = [sum(unit.cores for unit, at in zip(units, machine, strict=True) if at == place) for place in range(len(cores))]
    cut = [joint for (one, other), joint in joints.items() if machine[one] != machine[other]]
    away = sum(unit.nodes for unit, at in zip(units, machine, strict=True) if at)
    short = sum(max(0, need - have) for need, have in zip(needs, cores, strict=True))
    return short, sum(joint.wires for joint in cut), sum(joint.rate for joint in cut), away


@some.composite
def networks(draw: some.DrawFn) -> Drawn:
    machines = draw(some.integers(1, 3))
    fixed = some.none() | some.integers(0, machines - 1)
    units = draw(some.lists(some.builds(Unit, some.integers(0, 3), some.integers(1, 2), fixed), min_size=1, max_size=6))
    pairs = [(one, other) for other in range(len(units)) for one in range(other)]
    joint = some.builds(Joint, some.integers(1, 2), some.integers(1, 5))
    joints = draw(some.dictionaries(some.sampled_from(pairs), joint)) if pairs else {}
    return units, joints, draw(some.lists(some.integers(0, 4), min_size=machines, max_size=machines))


@given(networks())
@settings(max_examples=100)
def test_a_small_network_is_parted_in_the_best_way(network: Drawn) -> None:
    units, joints, cores = network
    placement = partition(units, joints, cores)
    assert placement.proven
    assert all(unit.fixed in (None, at) for unit, at in zip(units, placement.machine, strict=True))
    choices = product(*(range(len(cores)) if unit.fixed is None else (unit.fixed,) for unit in units))
    assert cost(units, joints, cores, placement.machine) == min(cost(units, joints, cores, choice) for choice in choices)
    assert partition(units, joints, cores) == placement


def test_a_long_chain_is_cut_as_often_as_it_has_to_be() -> None:
    """32 units of a core on four machines of 8: three cuts."""
    units = [Unit(1) for _ in range(32)]
    joints = {(at, at + 1): Joint(1, 10) for at in range(31)}
    placement = partition(units, joints, [8, 8, 8, 8])
    assert cost(units, joints, [8] * 4, placement.machine)[:2] == (0, 3)


def test_a_network_of_many_nodes_is_parted_within_its_cores() -> None:
    units = [Unit(at % 2) for at in range(200)]
    joints = {(at, at + 1): Joint(1, 10) for at in range(199)}
    placement = partition(units, joints, [60, 60])
    assert not placement.proven
    assert cost(units, joints, [60, 60], placement.machine)[:2] == (0, 1)

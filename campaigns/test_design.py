# SPDX-License-Identifier: GPL-2.0-or-later
from __future__ import annotations

from collections import Counter

import pytest

from campaigns import design
from campaigns.campaign import Campaign
from campaigns.conftest import Write
from campaigns.design import numbered

RATE = "rate: {path: traffic.flow.rate, values: [1 Mbit/s, 2 Mbit/s, 3 Mbit/s]}"
DELAY = "delay: {path: netboxes.net.delay, values: [1 ms, 5 ms, 9 ms]}"
SIZE = "size: {path: traffic.flow.payload, from: 100 B, to: 1000 B}"


def designed(write: Write, *parameters: str, more: str = "") -> list[dict[str, object]]:
    text = "topology: x.yaml\nparameters:\n" + "".join(f"  {parameter}\n" for parameter in parameters) + more
    return [dict(point.parameters) for point in Campaign.load(write(text)).points()]


def test_a_grid_has_all_with_all_and_the_last_parameter_is_the_fastest(campaign_file: Write) -> None:
    points = designed(campaign_file, RATE, DELAY)
    assert len(points) == 9
    assert points[:4] == [
        *({"rate": "1 Mbit/s", "delay": delay} for delay in ("1 ms", "5 ms", "9 ms")),
        {"rate": "2 Mbit/s", "delay": "1 ms"},
    ]


def test_pairs_are_the_nth_values_of_all_together(campaign_file: Write) -> None:
    points = designed(campaign_file, RATE, DELAY, more="design: pairs\n")
    assert [tuple(point.values()) for point in points] == [("1 Mbit/s", "1 ms"), ("2 Mbit/s", "5 ms"), ("3 Mbit/s", "9 ms")]


def test_pairs_of_some_are_crossed_with_the_others(campaign_file: Write) -> None:
    points = designed(
        campaign_file,
        "size: {path: traffic.flow.payload, values: [100 B, 200 B]}",
        RATE,
        DELAY,
        more="design: {pairs: [rate, delay]}\n",
    )
    assert len(points) == 6
    assert points[1] == {"size": "100 B", "rate": "2 Mbit/s", "delay": "5 ms"}


def test_a_campaign_without_parameters_has_one_point(campaign_file: Write) -> None:
    assert designed(campaign_file, more="  {}\n") == [{}]


@pytest.mark.parametrize("count", [2, 7, 40])
@pytest.mark.parametrize(("scale", "low", "high"), [("linear", 100.0, 1000.0), ("log", 0.001, 10.0)])
def test_a_latin_hypercube_has_one_value_in_each_stratum(
    campaign_file: Write, count: int, scale: str, low: float, high: float
) -> None:
    """McKay, Beckman and Conover (1979): the range of each parameter is cut into parts of equal probability."""
    one = f"one: {{path: traffic.flow.payload, from: {low} B, to: {high} B, scale: {scale}}}"
    two = "two: {path: netboxes.net.delay, from: 1 ms, to: 100 ms}"
    points = designed(campaign_file, one, two, more=f"design: {{latin_hypercube: {count}}}\n")
    values = sorted(float(str(point["one"]).split()[0]) for point in points)
    for number, value in enumerate(values):
        ends = [
            low + (high - low) * end / count if scale == "linear" else low * (high / low) ** (end / count)
            for end in (number, number + 1)
        ]
        assert ends[0] * (1 - 1e-5) <= value <= ends[1] * (1 + 1e-5)  # values have six digits
    assert len(points) == count


def test_lists_in_a_hypercube_have_each_value_equally_often_whatever_is_beside_it(campaign_file: Write) -> None:
    points = designed(campaign_file, RATE, SIZE, more="design: {latin_hypercube: 30}\n")
    assert set(Counter(point["rate"] for point in points).values()) == {10}
    of_first = sorted(float(str(point["size"]).split()[0]) for point in points if point["rate"] == "1 Mbit/s")
    assert of_first[0] < 400 and of_first[-1] > 700  # not the lowest third of the sizes


def test_a_hypercube_is_crossed_with_the_grid(campaign_file: Write) -> None:
    points = designed(campaign_file, RATE, SIZE, more="design: {latin_hypercube: 5, grid: [rate]}\n")
    sizes = [{point["size"] for point in points if point["rate"] == rate} for rate in ("1 Mbit/s", "2 Mbit/s", "3 Mbit/s")]
    assert len(points) == 15
    assert len(sizes[0]) == 5 and sizes[0] == sizes[1] == sizes[2]


def test_the_seed_says_the_points_and_runs(campaign_file: Write) -> None:
    def of(seed: int) -> list[dict[str, object]]:
        return designed(campaign_file, SIZE, more=f"design: {{latin_hypercube: 5}}\nseed: {seed}\n")

    assert of(1) == of(1) != of(2)


def test_a_hypercube_is_the_same_on_every_machine(campaign_file: Write) -> None:
    """Regression: published campaigns can be run again."""
    points = designed(campaign_file, SIZE, more="design: {latin_hypercube: 3}\nseed: 7\n")
    assert [point["size"] for point in points] == ["510.209 B", "267.366 B", "965.812 B"]


def test_seeds_of_a_repetition_are_the_same_at_each_point_and_of_no_other_repetition(campaign_file: Write) -> None:
    campaign = Campaign.load(campaign_file(f"topology: x.yaml\nparameters: {{{RATE}}}\n"))
    points = campaign.points()
    seeds = [{campaign.settings(point, repetition)[-1].value for point in points} for repetition in range(500)]
    assert campaign.settings(points[0], 0)[-1].path == ("seed",)
    assert len(set.union(*seeds)) == 500 and all(len(same) == 1 for same in seeds)


def test_points_keep_their_numbers_when_the_file_has_more_values(campaign_file: Write) -> None:
    before = Campaign.load(campaign_file(f"topology: x.yaml\nparameters: {{{RATE}}}\n")).points()
    after = Campaign.load(campaign_file(f"topology: x.yaml\nparameters: {{{RATE.replace('[1', '[0.5 Mbit/s, 1')}}}\n")).points()
    known = [(point.number, point.parameters) for point in before[:2]]
    assert [(point.number, point.parameters["rate"]) for point in numbered(after, known)] == [
        (2, "0.5 Mbit/s"),
        (0, "1 Mbit/s"),
        (1, "2 Mbit/s"),
        (3, "3 Mbit/s"),
    ]


@pytest.mark.parametrize("over", [(), (0,), (2,), (1, 2), (0, 1, 2)])
def test_numbers_do_not_depend_on_which_points_were_over_first(campaign_file: Write, over: tuple[int, ...]) -> None:
    points = Campaign.load(campaign_file(f"topology: x.yaml\nparameters:\n  {RATE}\n")).points()
    known = [(points[number].number, points[number].parameters) for number in over]
    assert numbered(points, known) == points


def test_a_point_is_the_same_whatever_the_order_of_its_parameters() -> None:
    assert design.point_key({"a": 1, "b": "x"}) == design.point_key({"b": "x", "a": 1}) != design.point_key({"a": 1, "b": "y"})

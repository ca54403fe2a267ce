// SPDX-License-Identifier: GPL-2.0-or-later
#include "layer_settings.h"

#include "settings_reader.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string>

namespace netboxit::multiservice
{

namespace
{

using stages::Range;
using stages::SettingsReader;

constexpr std::string_view NAME = "multiservice";
constexpr std::array<std::string_view, 2> SHARES{"fixed", "measured"};
constexpr std::array<std::string_view, 2> FACTORS{"services", "share"};
constexpr std::array<std::string_view, 3> PACINGS{"none", "packet", "batch"};

/// What the frames' numbers mean depends on: with `repeats_first`, in which order those that wait go.
constexpr std::array NUMBERING{"scheme", "sequence_bits", "block", "repeats_first"};

/// Shares to a millionth count.
constexpr Range SHARE_RANGE{1e-6, 1000};
constexpr Range FACTOR_RANGE{1, 1000};
constexpr Range INTERVAL_RANGE{0.01, 3600};
constexpr Range SMOOTHING_RANGE{0, 0.99};
constexpr unsigned MOST_FRAMES = 1'000'000;
constexpr unsigned MOST_BATCH = 10'000;
constexpr unsigned MOST_OVERHEAD = 10'000;

LayerSettings::Place PlaceOf(const Json& settings)
{
    const SettingsReader reader(settings, NAME);
    return {.scheme = settings,
            .share = reader.Number("share", SHARE_RANGE),
            .queue = reader.IntegerIfAny("queue", 1, MOST_FRAMES).value_or(MOST_FRAMES)};
}

} // namespace

LayerSettings LayerSettings::Of(const Json& settings)
{
    const SettingsReader reader(settings, NAME);
    LayerSettings read;
    const auto& services = settings.at("services");
    if (services.empty() || services.size() > MOST_SERVICES)
    {
        throw std::invalid_argument("multiservice: there are " + std::to_string(services.size()) + " services, not 1 to " +
                                    std::to_string(MOST_SERVICES) + ": a frame has 4 bits for their numbers");
    }
    for (const auto& service : services)
    {
        read.places.push_back(PlaceOf(service));
    }
    read.isMeasured = reader.ChoiceOr("shares", SHARES, false);
    read.interval = std::llround(reader.NumberOr("measure_interval", 1, INTERVAL_RANGE) * stages::NS_PER_S);
    read.smoothing = reader.NumberOr("smoothing", 0, SMOOTHING_RANGE);
    if (settings.contains("timer_factor") && settings["timer_factor"].is_number())
    {
        read.factor = Factor::Fixed;
        read.fixedFactor = reader.Number("timer_factor", FACTOR_RANGE);
    }
    else
    {
        read.factor = reader.ChoiceOr("timer_factor", FACTORS, Factor::Services);
    }
    const auto batch = reader.IntegerIfAny("pacing_batch", 1, MOST_BATCH).value_or(1);
    const std::array<std::uint32_t, 3> batches{0, 1, batch};
    read.batch = batches[reader.ChoiceOr("pacing", PACINGS, std::size_t{0})];
    read.overhead = reader.IntegerIfAny("pacing_overhead", 0, MOST_OVERHEAD).value_or(0);
    return read;
}

bool LayerSettings::Place::IsLike(const Place& other) const
{
    return std::ranges::all_of(NUMBERING,
                               [&](const char* key) { return scheme.value(key, Json()) == other.scheme.value(key, Json()); });
}

bool LayerSettings::HasServicesLike(const LayerSettings& other) const
{
    return std::ranges::equal(places, other.places, [](const Place& left, const Place& right) { return left.IsLike(right); });
}

} // namespace netboxit::multiservice

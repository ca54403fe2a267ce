// SPDX-License-Identifier: GPL-2.0-or-later
#include "medium.h"

#include "../engine/nature.h"
#include "../engine/station_parameter.h"

#include "ns3/simulator.h"

#include <cmath>

namespace netboxit
{

namespace
{

constexpr std::int64_t BIT_ERROR_STREAM = 7000;

} // namespace

Medium::Medium(const SegmentSetup& setup)
    : m_fates(setup.fates), m_announcements(setup.announcements), m_names(setup.stations),
      m_wires(setup.stations.size()),
      m_velocity(setup.parameters.at("velocity_factor").get<double>() * SPEED_OF_LIGHT),
      m_allOff(setup.parameters.at("outage")), m_random(ns3::CreateObject<ns3::UniformRandomVariable>())
{
    m_random->SetStream(BIT_ERROR_STREAM);
    m_logOfGoodBit = std::log1p(-setup.parameters.at("bit_error_rate").get<double>());
    const auto delayOf = [this](const Json& said) -> Json
    {
        const auto& length = said.at("length");
        return length.is_null() ? said.at("delay") : Json(length.get<double>() / m_velocity);
    };
    for (StationId id = 0; id < Count(); ++id)
    {
        const auto& said = setup.parameters.at("stations").at(m_names[id]);
        auto& wire = m_wires[id];
        wire.ownRate = !said.at("rate").is_null();
        const auto ownDelay = delayOf(said);
        wire.ownDelay = !ownDelay.is_null();
        wire.rate = static_cast<std::uint64_t>(
            std::llround((wire.ownRate ? said : setup.parameters).at("rate").get<double>()));
        wire.delay =
            std::llround((wire.ownDelay ? ownDelay : delayOf(setup.parameters)).get<double>() * 1e9);
        wire.off = said.at("outage");
    }
}

bool Medium::IsCutBy(bool all, std::span<const Wire> wires, StationId station) const
{
    return all || wires[station].off;
}

bool Medium::HasOwnWires() const
{
    return false;
}

void Medium::Check(double, double) const
{
}

bool Medium::DrawSurvival(std::uint32_t bytes)
{
    return m_random->GetValue() < std::exp(m_logOfGoodBit * 8.0 * static_cast<double>(bytes - PREAMBLE));
}

void Medium::Begin()
{
    LookAtCuts();
    for (auto& wire : m_wires)
    {
        wire.announced = wire.cut;
    }
}

std::vector<Unlinked> Medium::WithoutLink() const
{
    std::vector<Unlinked> found;
    for (StationId id = 0; id < Count(); ++id)
    {
        if (m_wires[id].cut)
        {
            found.push_back({id, {{"reason", "outage"}}});
        }
    }
    return found;
}

std::optional<LinkState> Medium::StateOf(StationId station) const
{
    const auto& wire = m_wires[station];
    const auto rate = wire.cut ? 0 : wire.rate;
    return LinkState{.transmit = rate, .receive = rate, .latency = wire.delay};
}

void Medium::Set(std::string_view name, const Json& value)
{
    const auto [station, parameter] = TargetOf(name, m_names);
    if (parameter == "outage")
    {
        SetOutage(station, value);
        return;
    }
    if (parameter == "queue" && !station)
    {
        ApplyQueue(value);
        return;
    }
    if (station && !HasOwnWires())
    {
        throw OutOfRange("ethernet: only at a switch has a station a " + std::string(parameter) +
                         " of its own; change that of the network");
    }
    const double number = value;
    if (parameter == "rate")
    {
        SetRate(station, number);
    }
    else if (parameter == "bit_error_rate")
    {
        m_logOfGoodBit = std::log1p(-number);
    }
    else
    {
        SetDelay(station, parameter == "delay" ? number : number / m_velocity);
    }
}

void Medium::SetRate(std::optional<StationId> station, double rate)
{
    Check(rate, static_cast<double>(m_wires.front().delay) / 1e9);
    for (StationId id = 0; id < Count(); ++id)
    {
        auto& wire = m_wires[id];
        if (station ? id == *station : !wire.ownRate)
        {
            wire.ownRate = station.has_value();
            wire.rate = static_cast<std::uint64_t>(std::llround(rate));
            ApplyRate(id);
        }
    }
}

void Medium::SetDelay(std::optional<StationId> station, double delay)
{
    Check(static_cast<double>(m_wires.front().rate), delay);
    for (StationId id = 0; id < Count(); ++id)
    {
        auto& wire = m_wires[id];
        if (station ? id == *station : !wire.ownDelay)
        {
            wire.ownDelay = station.has_value();
            wire.delay = std::llround(delay * 1e9);
            ApplyDelay(id);
        }
    }
}

void Medium::SetOutage(std::optional<StationId> station, const Json& value)
{
    (station ? m_wires[*station].off : m_allOff) = value;
    LookAtCuts();
    AnnounceCuts();
}

void Medium::LookAtCuts()
{
    for (StationId id = 0; id < Count(); ++id)
    {
        const bool cut = IsCutBy(m_allOff, m_wires, id);
        if (cut != m_wires[id].cut)
        {
            m_wires[id].cut = cut;
            ApplyCut(id);
        }
    }
}

void Medium::AnnounceCuts()
{
    for (StationId id = 0; id < Count(); ++id)
    {
        auto& wire = m_wires[id];
        if (wire.cut && !wire.announced)
        {
            m_announcements.Announce("link_down", id, {{"reason", "outage"}});
        }
        else if (!wire.cut && wire.announced)
        {
            m_announcements.Announce("link_up", id);
        }
        wire.announced = wire.cut;
    }
}

Json Medium::Read() const
{
    Json stations = Json::object();
    for (StationId id = 0; id < Count(); ++id)
    {
        auto& counters = stations[m_names[id]];
        counters = ReadStation(id);
        counters["link"] = !m_wires[id].cut;
        counters["rate"] = m_wires[id].rate;
        counters["lost"] = m_wires[id].lost.ReadOccurred();
    }
    return {{"stations", stations}};
}

void Medium::Reset()
{
    for (StationId id = 0; id < Count(); ++id)
    {
        m_wires[id].lost = {};
        ResetStation(id);
    }
}

} // namespace netboxit

// SPDX-License-Identifier: GPL-2.0-or-later
#include "motion.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <limits>

namespace netboxit
{

namespace
{

bool IsGiven(const nlohmann::json& station, const char* key)
{
    return station.contains(key) && !station.at(key).is_null();
}

ns3::Vector Between(const ns3::Vector& from, const ns3::Vector& to, double share)
{
    return {from.x + (to.x - from.x) * share, from.y + (to.y - from.y) * share, from.z + (to.z - from.z) * share};
}

} // namespace

ns3::Vector VectorOf(const nlohmann::json& position)
{
    return {position.at(0), position.at(1), position.at(2)};
}

ns3::TypeId Motion::GetTypeId()
{
    static const auto id = ns3::TypeId("netboxit::Motion").SetParent<ns3::MobilityModel>().AddConstructor<Motion>();
    return id;
}

bool Motion::IsSaid(const nlohmann::json& station)
{
    return IsGiven(station, "position") || IsGiven(station, "path") || IsGiven(station, "wander");
}

ns3::Ptr<Motion> Motion::From(const nlohmann::json& station, const ns3::Vector& otherwise, std::int64_t stream)
{
    auto motion = ns3::CreateObject<Motion>();
    motion->m_standing = IsGiven(station, "position") ? VectorOf(station.at("position")) : otherwise;
    if (IsGiven(station, "path"))
    {
        for (const auto& point : station.at("path"))
        {
            motion->m_path.push_back({point.at("at"), VectorOf(point.at("position"))});
        }
        motion->m_standing = motion->m_path.front().position;
    }
    else if (IsGiven(station, "wander"))
    {
        const auto& wander = station.at("wander");
        motion->m_walk = Walk{VectorOf(wander.at("area").at(0)),
                              VectorOf(wander.at("area").at(1)),
                              wander.at("speed").at(0),
                              wander.at("speed").at(1),
                              wander.at("pause")};
        motion->m_random = ns3::CreateObject<ns3::UniformRandomVariable>();
        motion->m_random->SetStream(stream);
        if (!IsGiven(station, "position"))
        {
            motion->m_standing = Between(motion->m_walk->low, motion->m_walk->high, 0.5);
        }
    }
    return motion;
}

void Motion::Begin()
{
    m_began = ns3::Simulator::Now().GetNanoSeconds();
    if (m_walk)
    {
        m_path.assign(1, {0.0, m_standing});
    }
    NotifyCourseChange();
}

double Motion::Elapsed() const
{
    return m_began ? static_cast<double>(ns3::Simulator::Now().GetNanoSeconds() - *m_began) / 1e9 : 0.0;
}

std::size_t Motion::NextWaypoint(double time) const
{
    while (m_walk && m_path.back().time <= time)
    {
        WalkOn();
    }
    while (m_walk && m_path.size() > 2 && m_path[1].time <= time)
    {
        m_path.pop_front();
    }
    return static_cast<std::size_t>(std::ranges::upper_bound(m_path, time, {}, &Waypoint::time) - m_path.begin());
}

void Motion::WalkOn() const
{
    const auto last = m_path.back();
    const ns3::Vector to{m_random->GetValue(m_walk->low.x, m_walk->high.x),
                         m_random->GetValue(m_walk->low.y, m_walk->high.y),
                         m_random->GetValue(m_walk->low.z, m_walk->high.z)};
    const double speed = m_random->GetValue(m_walk->slowest, m_walk->fastest);
    const double there = last.time + ns3::CalculateDistance(last.position, to) / speed;
    m_path.push_back({there, to});
    if (m_walk->pause > 0)
    {
        m_path.push_back({there + m_walk->pause, to});
    }
}

ns3::Vector Motion::DoGetPosition() const
{
    if (!Moves() || !m_began)
    {
        return m_standing;
    }
    const double time = Elapsed();
    const auto next = NextWaypoint(time);
    if (next == 0 || next == m_path.size())
    {
        return next == 0 ? m_path.front().position : m_path.back().position;
    }
    const auto& from = m_path[next - 1];
    const auto& to = m_path[next];
    return Between(from.position, to.position, (time - from.time) / (to.time - from.time));
}

ns3::Vector Motion::DoGetVelocity() const
{
    if (!Moves() || !m_began)
    {
        return {};
    }
    const auto next = NextWaypoint(Elapsed());
    if (next == 0 || next == m_path.size())
    {
        return {};
    }
    const auto& from = m_path[next - 1];
    const auto& to = m_path[next];
    const double duration = to.time - from.time;
    return {(to.position.x - from.position.x) / duration,
            (to.position.y - from.position.y) / duration,
            (to.position.z - from.position.z) / duration};
}

void Motion::DoSetPosition(const ns3::Vector& position)
{
    m_path.clear();
    m_walk.reset();
    m_standing = position;
    NotifyCourseChange();
}

} // namespace netboxit

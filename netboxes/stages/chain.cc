// SPDX-License-Identifier: GPL-2.0-or-later
#include "chain.h"

#include "make_stage.h"

#include <algorithm>
#include <ranges>
#include <stdexcept>
#include <string>

namespace netboxit::stages
{

bool Chain::Entering(std::span<std::uint8_t> frame, const Headers& headers, std::int64_t now)
{
    const auto dropping =
        std::ranges::find_if(m_links, [&](const Link& link) { return !link.stage->Entering(frame, headers, now); });
    if (dropping == m_links.end())
    {
        return true;
    }
    Drop(*dropping, headers, Direction::FromNode, now);
    return false;
}

bool Chain::Leaving(std::span<std::uint8_t> frame, const Headers& headers, std::int64_t now)
{
    auto reversed = m_links | std::views::reverse;
    const auto dropping = std::ranges::find_if(reversed, [&](const Link& link) { return !link.stage->Leaving(frame, headers, now); });
    if (dropping == reversed.end())
    {
        return true;
    }
    Drop(*dropping, headers, Direction::ToNode, now);
    return false;
}

void Chain::Drop(Link& link, const Headers& headers, Direction direction, std::int64_t now) const
{
    ++link.dropped;
    if (!link.stage->Polices() || (link.announced && now - *link.announced < ANNOUNCED_EACH))
    {
        return;
    }
    link.announced = now;
    m_announce("policing",
               {{"stage", link.kind},
                {"node", headers.ip ? Json(TextOf(NodeOf(*headers.ip, direction))) : Json()},
                {"dropped", link.dropped}});
}

void Chain::Set(const Json& stages, std::int64_t now)
{
    if (!stages.is_array() || stages.size() > MOST)
    {
        throw std::invalid_argument("stages are a list of " + std::to_string(MOST) + " at most");
    }
    const auto stays = [this](std::size_t place, const std::string& kind) {
        return place < m_links.size() && m_links[place].kind == kind;
    };
    // Whatever is wrong throws here, before anything changes. Those that stay are not made anew: large tables take milliseconds.
    std::vector<Link> links;
    for (const auto& settings : stages)
    {
        const std::string kind = settings.at("stage");
        const auto place = links.size();
        if (stays(place, kind))
        {
            m_links[place].stage->Check(settings);
        }
        links.push_back({.kind = kind, .stage = stays(place, kind) ? nullptr : MakeStage(settings, m_seed + place)});
    }
    for (std::size_t place = 0; place < links.size(); ++place)
    {
        if (!links[place].stage)
        {
            m_links[place].stage->Set(stages[place], now);
            links[place] = std::move(m_links[place]);
        }
    }
    m_links = std::move(links);
}

Json Chain::Read(std::int64_t now) const
{
    auto read = Json::array();
    for (const auto& link : m_links)
    {
        auto statistics = link.stage->Read(now);
        statistics["stage"] = link.kind;
        read.push_back(std::move(statistics));
    }
    return read;
}

void Chain::AddTo(Json& counters, std::int64_t now) const
{
    for (auto stage : Read(now))
    {
        const auto kind = stage["stage"].get<std::string>();
        stage.erase("stage");
        stage.erase("by_flow");
        auto name = kind;
        for (int further = 2; counters.contains(name); ++further)
        {
            name = kind + '-' + std::to_string(further);
        }
        counters[name] = std::move(stage);
    }
}

} // namespace netboxit::stages

// SPDX-License-Identifier: GPL-2.0-or-later
#include "chain.h"

#include "make_stage.h"

#include <algorithm>
#include <ranges>

namespace netboxit::stages
{

bool Chain::Entering(std::span<std::uint8_t> frame, const Headers& headers, std::int64_t now)
{
    return std::ranges::all_of(m_links, [&](const Link& link) { return link.stage->Entering(frame, headers, now); });
}

bool Chain::Leaving(std::span<std::uint8_t> frame, const Headers& headers, std::int64_t now)
{
    return std::ranges::all_of(m_links | std::views::reverse,
                               [&](const Link& link) { return link.stage->Leaving(frame, headers, now); });
}

void Chain::Set(const Json& stages, std::int64_t now)
{
    // All are made first, also those that are only set: whatever is wrong with settings throws here.
    std::vector<Link> links;
    for (const auto& settings : stages)
    {
        links.push_back({settings.at("stage"), MakeStage(settings, m_seed + links.size())});
    }
    for (std::size_t i = 0; i < std::min(links.size(), m_links.size()); ++i)
    {
        if (links[i].kind == m_links[i].kind)
        {
            m_links[i].stage->Set(stages[i], now);
            links[i] = std::move(m_links[i]);
        }
    }
    m_links = std::move(links);
}

Json Chain::Read(std::int64_t now) const
{
    auto read = Json::array();
    for (const auto& [kind, stage] : m_links)
    {
        auto statistics = stage->Read(now);
        statistics["stage"] = kind;
        read.push_back(std::move(statistics));
    }
    return read;
}

} // namespace netboxit::stages

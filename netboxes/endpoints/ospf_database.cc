// SPDX-License-Identifier: GPL-2.0-or-later
#include "ospf_database.h"

#include <algorithm>
#include <set>

namespace netboxit::ospf
{

namespace
{

bool HasLinkTo(const Lsa& lsa, Id router)
{
    return std::ranges::any_of(lsa.links,
                               [router](const auto& link) { return link.kind == LinkKind::PointToPoint && link.id == router; });
}

bool IsBetter(const Route& left, const Route& right)
{
    return std::pair(left.cost, left.gateway) < std::pair(right.cost, right.gateway);
}

} // namespace

const Lsa* Database::Find(Id router) const
{
    const auto found = m_all.find(router);
    return found == m_all.end() ? nullptr : &found->second;
}

bool Database::Install(Lsa lsa)
{
    const auto router = lsa.header.router;
    if (m_all.size() >= MOST && !m_all.contains(router))
    {
        return false;
    }
    m_all.insert_or_assign(router, std::move(lsa));
    return true;
}

Routes Database::Calculate(Id root, const std::vector<Adjacency>& adjacencies) const
{
    std::map<Id, Route> reached; // by router, the first hop and the cost of the path to it
    std::set<std::pair<std::uint32_t, Id>> waiting;
    const auto offer = [&](Id from, Id router, const Route& path)
    {
        const auto* const lsa = Find(router);
        if (router == root || lsa == nullptr || !HasLinkTo(*lsa, from)) // RFC 2328, 16.1, (2)(b)
        {
            return;
        }
        const auto known = reached.find(router);
        if (known == reached.end() || IsBetter(path, known->second))
        {
            reached.insert_or_assign(router, path);
            waiting.insert({path.cost, router});
        }
    };
    for (const auto& [router, address, interface, cost] : adjacencies)
    {
        offer(root, router, {cost, address, interface});
    }
    Routes routes;
    std::set<Id> done;
    while (!waiting.empty())
    {
        const auto router = waiting.extract(waiting.begin()).value().second;
        if (!done.insert(router).second)
        {
            continue;
        }
        const auto path = reached.at(router);
        for (const auto& link : Find(router)->links)
        {
            const Route onwards{path.cost + link.metric, path.gateway, path.interface};
            if (link.kind == LinkKind::PointToPoint && !done.contains(link.id))
            {
                offer(router, link.id, onwards);
            }
            else if (link.kind == LinkKind::Stub)
            {
                const Network network{link.id & link.data, link.data};
                const auto known = routes.find(network);
                if (known == routes.end() || IsBetter(onwards, known->second))
                {
                    routes.insert_or_assign(network, onwards);
                }
            }
        }
    }
    return routes;
}

} // namespace netboxit::ospf

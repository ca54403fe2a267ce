// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "ospf_messages.h"

#include <map>

namespace netboxit::ospf
{

/// A neighbour over one of a router's own interfaces, for the calculation of paths.
struct Adjacency
{
    Id router;
    Id address;
    std::size_t interface;
    std::uint32_t cost;
};

struct Network
{
    Id address;
    Id mask;

    auto operator<=>(const Network&) const = default;
};

/// How a network is reached; of paths with the same cost the one to the lowest address.
struct Route
{
    std::uint32_t cost;
    Id gateway;
    std::size_t interface;

    bool operator==(const Route&) const = default;
};

using Routes = std::map<Network, Route>;

/// The router-LSAs that a router has, by their routers.
class Database
{
  public:
    /// Null where there is none.
    const Lsa* Find(Id router) const;
    /// In the place of the one that it has of that router, if any. False when there is no room for one more router.
    bool Install(Lsa lsa);

    const std::map<Id, Lsa>& All() const
    {
        return m_all;
    }

    /// The least costs from `root` to all networks that others advertise (RFC 2328, 16.1).
    Routes Calculate(Id root, const std::vector<Adjacency>& adjacencies) const;

  private:
    /// More than an area has: RFC 2328 knows of areas of some hundred.
    static constexpr std::size_t MOST = 4096;

    std::map<Id, Lsa> m_all;
};

} // namespace netboxit::ospf

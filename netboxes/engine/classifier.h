// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "fragment_classes.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace netboxit
{

/// Sorts frames into the netbox's traffic classes by their real headers: the first class whose conditions all
/// hold, else "default".
///
/// Conditions of a class's `match`: `dscp` [number, …]; `protocol` "udp", "tcp", "icmp" (either version) or a
/// number; `ports` [[low, high], …] (source or destination port in one of them); `ether_type` [number, …]
/// (behind VLAN tags); `source`, `destination` "address/length" (IPv4 or IPv6).
///
/// A later fragment has the class of its packet's first fragment, if that came before it (FragmentClasses); else its own
/// headers decide, in which there are no ports.
class Classifier
{
  public:
    /// Throws std::invalid_argument that names the class and the condition.
    explicit Classifier(const nlohmann::json& classes);

    /// Of a frame that enters at a station at a time (ns).
    ClassId Classify(const Headers& headers, StationId from, std::int64_t now)
    {
        const bool isFragment = headers.ip && headers.ip->part != Part::Whole;
        return isFragment && m_looksBehindIp ? ClassOfFragment(headers, from, now) : ClassOf(headers);
    }

    /// Names by ClassId, the last one "default".
    const std::vector<std::string>& Names() const
    {
        return m_names;
    }

  private:
    struct Network
    {
        std::array<std::uint8_t, 16> address{};
        std::size_t bytes{}; ///< 4 or 16
        unsigned bits{};
    };

    struct Rule
    {
        std::vector<unsigned> dscp;
        std::vector<unsigned> protocols;
        std::vector<std::pair<unsigned, unsigned>> ports;
        std::vector<unsigned> etherTypes;
        std::optional<Network> source;
        std::optional<Network> destination;
    };

    static Rule ReadRule(const nlohmann::json& match);
    static Network ReadNetwork(const std::string& text);
    static bool Contains(const Network& network, Bytes address);
    static bool Holds(const Rule& rule, const Headers& headers);
    ClassId ClassOf(const Headers& headers) const;
    ClassId ClassOfFragment(const Headers& headers, StationId from, std::int64_t now);

    std::vector<std::string> m_names;
    std::vector<Rule> m_rules;
    bool m_looksBehindIp{}; ///< some rule asks for what only a first fragment has
    FragmentClasses m_fragments;
};

} // namespace netboxit

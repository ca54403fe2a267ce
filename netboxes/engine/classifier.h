// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "frame.h"
#include "headers.h"

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
class Classifier
{
  public:
    /// Throws std::invalid_argument that names the class and the condition.
    explicit Classifier(const nlohmann::json& classes);

    ClassId Classify(const Headers& headers) const;

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

    std::vector<std::string> m_names;
    std::vector<Rule> m_rules;
};

} // namespace netboxit

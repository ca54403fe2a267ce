// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "network_configuration.h"

#include "ns3/event-id.h"

#include <fstream>
#include <string_view>

namespace netboxit
{

/// The events of a network: each is made at its time, or when what it waits for has come true, and written down.
class Course
{
  public:
    /// What can be changed, and asked.
    class Targets
    {
      public:
        virtual ~Targets() = default;
        /// Throws std::exception with the reason where it cannot be.
        virtual void Make(const Change& change) = 0;
        /// Frames that have left by a station of a netbox.
        virtual std::uint64_t Sent(const std::string& netbox, const std::string& station) const = 0;
    };

    Course(const NetworkConfiguration& configuration, Targets& targets);

    /// The network's time begins now.
    void Begin();
    /// A netbox has something in its journal; of what it says of no station `station` is empty.
    void Announced(const std::string& netbox, std::string_view event, const std::string& station);

  private:
    struct Waiting
    {
        bool settled{false};
        std::size_t left{0};              ///< events that it waits for
        std::optional<std::uint64_t> sent; ///< by its station, when they were counted last
        std::int64_t since{0};            ///< ns, of that number
    };

    void Make(std::size_t event);
    void Settle(std::size_t condition);
    void Expire(std::size_t condition);
    void Look();
    double Now() const;

    const NetworkConfiguration& m_configuration;
    Targets& m_targets;
    std::vector<Waiting> m_waiting; ///< by condition
    std::optional<std::int64_t> m_began; ///< ns of simulated time
    std::ofstream m_made;
};

} // namespace netboxit

// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "stage.h"

#include <memory>
#include <string>
#include <vector>

namespace netboxit::stages
{

/// The stages of one port, in the order in which packets from the node pass them. Packets to the node pass them in the opposite order.
class Chain
{
  public:
    /// Each one reads each packet.
    static constexpr std::size_t MOST = 16;

    /// Of a port, by its number. `seed` of what stages do at random: no two of them, of whatever port, have the same.
    Chain(std::uint32_t seed, std::size_t port) : m_seed((std::uint64_t{seed} << 32) + (port << 10))
    {
    }

    bool IsEmpty() const
    {
        return m_links.empty();
    }

    /// As Stage::Entering and Stage::Leaving. A stage that drops the frame is the last one to see it.
    bool Entering(std::span<std::uint8_t> frame, const Headers& headers, std::int64_t now);
    bool Leaving(std::span<std::uint8_t> frame, const Headers& headers, std::int64_t now);

    /// `stages`: a list with the settings of each one, and with its kind as "stage" (make_stage.h). One whose kind stays at its place keeps
    /// what it knows of packets. Throws std::invalid_argument or nlohmann::json::exception, and then changes nothing.
    void Set(const Json& stages, std::int64_t now);

    /// A list of their statistics, each with its kind as "stage".
    Json Read(std::int64_t now) const;

  private:
    struct Link
    {
        std::string kind;
        std::unique_ptr<Stage> stage;
    };

    std::uint64_t m_seed; ///< of the first one; the place in the chain adds to it
    std::vector<Link> m_links;
};

} // namespace netboxit::stages

// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "ip_address.h"
#include "stage.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace netboxit::stages
{

/// The stages of one port, in the order in which packets from the node pass them. Packets to the node pass them in the opposite order.
class Chain
{
  public:
    /// Each one reads each packet.
    static constexpr std::size_t MOST = 16;
    /// While a stage drops packet after packet, that is announced so often, ns.
    static constexpr std::int64_t ANNOUNCED_EACH = 10'000'000'000;

    /// Takes what happens: its name, and its details in base units.
    using Announce = std::function<void(std::string_view event, const Json& details)>;

    /// Of a port, by its number. `seed` of what stages do at random: no two of them, of whatever port, have the same. Of a stage that
    /// polices `announce` is called with "policing" and {stage: its kind, node: the address that the packet just dropped is of (null: it is
    /// no IP packet), dropped: packets so far}, with the first one that it drops and then as long as it does.
    Chain(std::uint32_t seed, std::size_t port, Announce announce)
        : m_seed((std::uint64_t{seed} << 32) + (port << 10)),
          m_announce(std::move(announce))
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
    /// Adds the same to `counters`, {kind: {counter: number}}; further ones of a kind are "kind-2". Flows are left out: these become series, and
    /// connections come and go.
    void AddTo(Json& counters, std::int64_t now) const;

  private:
    struct Link
    {
        std::string kind;
        std::unique_ptr<Stage> stage;
        std::uint64_t dropped{};
        std::optional<std::int64_t> announced{}; ///< ns
    };

    void Drop(Link& link, const Headers& headers, Direction direction, std::int64_t now) const;

    std::uint64_t m_seed; ///< of the first one; the place in the chain adds to it
    Announce m_announce;
    std::vector<Link> m_links;
};

} // namespace netboxit::stages

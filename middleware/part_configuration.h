// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "allocator.h"
#include "member.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace netboxit::middleware
{

/// What makes the programs of a member's host keep its budget.
enum class Enforcement : std::uint8_t
{
    Window, ///< senders of the host itself: the window that a budget means, Eq. 2.2 (window.h)
    Shaper, ///< a queue of the kernel
    None,   ///< the budget is told only
};

/// As the configuration has it, and statistics.
std::string_view NameOf(Enforcement enforcement);

/// That what an allocator divides is the rate of a link, as the netbox at an interface of the host tells it.
struct FollowedLink
{
    std::string interface;    ///< of the host, where the netbox tells it
    bool isReceived{};        ///< of what comes by it, not of what leaves
    double exploitation{1};   ///< the part of it that is divided, above 0 and at most 1

    /// Bit/s to divide, by what the netbox tells. Nothing of a link that is down: nobody can use it, and budgets stay as they are.
    std::optional<Rate> CapacityOf(std::uint64_t transmit, std::uint64_t receive) const;
};

/// By which announcements reach all members at once, where they are in one network.
struct AnnouncingGroup
{
    HostAddress group; ///< IPv4
    HostAddress from;  ///< the allocator's address in that network, which members ask
};

struct AllocatorPart
{
    Allocator::Settings settings;
    std::optional<FollowedLink> follows{};  ///< nothing: settings.capacity is divided until somebody sets another one
    std::optional<AnnouncingGroup> group{}; ///< nothing: each member has its copy of an announcement
};

struct MemberPart
{
    Member::Settings settings;
    Enforcement enforcement{Enforcement::None};
    std::optional<std::string> interface{}; ///< whose packets count; nothing: the one by which the allocator is reached
    std::optional<Rate> access{};           ///< nothing: no limit is known
    bool telemetry{};                       ///< the access is as the netbox at that interface tells
    std::vector<Prefix> beside{};          ///< what is reached without the link, and so takes nothing of the budget
    std::optional<HostAddress> group{};    ///< in which its host has to be, for announcements; nothing: it has copies
};

/// One part of a host in one managed link.
struct Part
{
    std::string name; ///< of the link, in statistics, journal and errors
    std::variant<AllocatorPart, MemberPart> role;
};

/// One entry of the list `management`, by which a host is told its part; README.md has the keys. `path` says in errors where
/// the entry is, as "management[0]". Throws std::invalid_argument with the key, its value and what is permitted, also for a key
/// that the role does not have.
Part ReadPart(const Json& entry, const std::string& path);

/// The whole list. Also refuses two parts of one role with the same name or the same domain: a host has one port for each role,
/// and tells links apart by their domains.
std::vector<Part> ReadParts(const Json& management);

} // namespace netboxit::middleware

// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "address.h"
#include "rate.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace netboxit::middleware
{

// What a member's shaper asks iproute2 for, and what it reads from it. Nothing here runs anything.

/// An interface whose packets are shaped.
struct ShapedInterface
{
    std::string name;
    unsigned mtu; ///< bytes of a packet
};

/// Of an interface's root queue.
enum class Root
{
    Kernel, ///< the kernel's default
    Own,    ///< of this program, perhaps of a run that was killed
    Foreign,
};

/// By what `ip -json link show dev NAME` printed. Throws std::runtime_error where `tc -batch` would take the name for
/// something else.
ShapedInterface ShapedInterfaceOf(const nlohmann::json& links);
/// By what `tc -json qdisc show dev NAME` printed.
Root RootOf(const nlohmann::json& queues);
/// The interfaces with a root queue of this program, by what `tc -json qdisc show` printed.
std::vector<std::string> ShapedInterfaces(const nlohmann::json& queues);

/// What takes nothing of the budget.
struct Exempt
{
    std::vector<Prefix> networks; ///< that are reached without the managed link
    bool announcements;            ///< an allocator is on this host, too
};

/// Lines for `tc -batch`: an HTB with one class, and two below it.
///
/// - ARP and what no router forwards do not take the budget, nor do the middleware's own messages and what is `exempt`. They go to
///   HTB's direct queue, which it serves first.
/// - Telephony, by its DSCP (EF, RFC 3246; VOICE-ADMIT, RFC 5865), goes before all else, and has seven eighths of the budget if it
///   wants them.
/// - All else is in the other class, also protocols that nobody thought of.
std::string StartOfShaping(const ShapedInterface& interface, Rate budget, const Exempt& exempt);
/// Gives the classes other rates. What waits in their queues stays there.
std::string ChangeOfShaping(const ShapedInterface& interface, Rate budget);
std::string EndOfShaping(const std::string& interface);

} // namespace netboxit::middleware

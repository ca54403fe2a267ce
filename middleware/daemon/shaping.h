// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

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
    unsigned mtu;                    ///< bytes of a packet
    std::vector<std::string> onLink; ///< networks that are reached without a gateway, as "10.0.0.0/24"
};

/// Of an interface's root queue.
enum class Root
{
    Kernel, ///< the kernel's default
    Own,    ///< of this program, perhaps of a run that was killed
    Foreign,
};

/// By what `ip -json address show dev NAME` printed. Throws std::runtime_error where `tc -batch` would take the name for
/// something else.
ShapedInterface ShapedInterfaceOf(const nlohmann::json& addresses);
/// By what `tc -json qdisc show dev NAME` printed.
Root RootOf(const nlohmann::json& queues);
/// The interfaces with a root queue of this program, by what `tc -json qdisc show` printed.
std::vector<std::string> ShapedInterfaces(const nlohmann::json& queues);

/// Lines for `tc -batch`: an HTB with one class for what leaves by a gateway. `sendsAnnouncements`: an allocator is on this host,
/// too.
///
/// - ARP, the networks on the link, and what no router forwards do not take the budget, nor do the middleware's own messages.
///   They go to HTB's direct queue, which it serves first.
/// - All else is in the class, also protocols that nobody thought of.
std::string StartOfShaping(const ShapedInterface& interface, Rate budget, bool sendsAnnouncements);
/// Gives the class another rate. What waits in its queue stays there.
std::string ChangeOfShaping(const ShapedInterface& interface, Rate budget);
std::string EndOfShaping(const std::string& interface);

} // namespace netboxit::middleware

// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "engine.h"

#include <cstddef>
#include <functional>
#include <string_view>

namespace netboxit::click
{

/// What messages call a configuration that came through the handler `hotconfig`.
inline constexpr const char* HOT_CONFIGURATION = "hotconfig";

/// Does something in a child process, which is gone afterwards; throws BadConfiguration with what it told
/// when it did not end well.
void CheckInChild(const std::function<void()>& check);

/// Runs a configuration without giving it frames until its queues are empty, or do not get any emptier.
/// `flush` sends what comes out. Returns how many frames are left.
std::size_t Drain(Engine& engine, const std::function<void()>& flush);

/// Tells the ARPQueriers of `next` the addresses that those of the same name in `before` had learnt.
void CarryNeighbours(Engine& before, Engine& next);

} // namespace netboxit::click

// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "allocator.h"
#include "member.h"

#include <string>

namespace netboxit::middleware
{

/// What happened to a part in a managed link, as a journal tells it (README.md, "What is announced").
struct Announced
{
    std::string event;
    Json details; ///< an object
};

Announced AnnouncedOf(const Member::Event& event);
/// Of terms that an allocator announced.
Announced AnnouncedOf(const Terms& terms);

} // namespace netboxit::middleware

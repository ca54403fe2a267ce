// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "accounts.h"

#include "../queueing/queue.h"

#include <memory>

namespace netboxit::wimax
{

/// SDUs that wait to be put into PDUs.
using SduQueue = queueing::Queue<std::shared_ptr<Sdu>>;

/// As queue.py dumps it; throws OutOfRange. It draws from the random stream of this number; `channel`, which outlives it, tells of its
/// receivers.
std::unique_ptr<SduQueue> MakeSduQueue(const Json& said, Accounts& accounts, std::int64_t stream, const queueing::Channel* channel);

/// `frame`: the SDU's bytes.
queueing::Entry EntryOf(const Sdu& sdu, Bytes frame);

} // namespace netboxit::wimax

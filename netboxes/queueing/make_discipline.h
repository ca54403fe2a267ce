// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/segment.h"
#include "channel.h"
#include "discipline.h"

namespace netboxit::queueing
{

/// The one that a parameter `queue` names, as queue.py dumps it and within its limits; throws OutOfRange where these do not fit each
/// other. `mark` is asked only where the parameter has `ecn`, and with dualpi2. `channel`, which outlives it, is null where the technology
/// does not tell of the receivers' channels.
std::unique_ptr<Discipline> MakeDiscipline(
    const Json& queue, Chance chance, DropCallback dropped, MarkCallback mark, const Channel* channel = nullptr);

/// Makes a discipline as MakeDiscipline does: a technology's own, where it has disciplines of its own.
using Maker = std::function<std::unique_ptr<Discipline>(const Json& queue, Chance chance, DropCallback dropped, MarkCallback mark)>;

/// MakeDiscipline, with the channels of the receivers where the technology tells of them.
Maker MakerOf(const Channel* channel = nullptr);

/// What a parameter `queue` says of its room.
Room RoomOf(const Json& queue);

/// Whether a parameter `queue` has lines by traffic class: `lines`, a mapping each with `class`, `weight` and `queue`.
bool HasClasses(const Json& queue);

} // namespace netboxit::queueing

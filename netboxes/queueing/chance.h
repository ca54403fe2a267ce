// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "discipline.h"

#include "ns3/random-variable-stream.h"

namespace netboxit::queueing
{

/// The numbers of one of ns-3's streams.
inline Chance ChanceOf(std::int64_t stream)
{
    const auto random = ns3::CreateObject<ns3::UniformRandomVariable>();
    random->SetStream(stream);
    return [random] { return random->GetValue(); };
}

} // namespace netboxit::queueing

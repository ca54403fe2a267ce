// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "rlp.h"

namespace netboxit::multiservice
{

/// "rlp-oos" (section 5.2.2): RLP that hands up each frame when it arrives. The receiver keeps no frames, and no repair
/// delays the frames behind it.
class RlpOutOfSequence : public Rlp
{
  public:
    using Rlp::Rlp;

  protected:
    void Take(Expected& expected, const Packet& packet, std::int64_t later) override;
};

} // namespace netboxit::multiservice

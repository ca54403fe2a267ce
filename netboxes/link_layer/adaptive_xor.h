// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "xor_parity.h"

namespace netboxit::multiservice
{

/// "xor-adaptive" (section 5.2.1): XOR whose block also ends when no packet comes for a while, so that a pause does not
/// delay repairs. A frame has a block number of three bits, and its position in the block: that of the parity frame tells the
/// size of the block.
class AdaptiveXor : public XorParity
{
  public:
    AdaptiveXor(ServicePort& port, const Json& settings);

    void Set(const Json& settings) override;

  protected:
    void TakePacket(const Packet& packet) override;
    void Number(AirFrame& frame, const Place& place) const override;
    Place PlaceOf(const AirFrame& frame) const override;

    ParityBlock NewBlock(std::uint32_t number) const override
    {
        return ParityBlock(number);
    }

  private:
    std::int64_t m_inactivity; ///< ns
    Timer m_quiet;
};

} // namespace netboxit::multiservice
